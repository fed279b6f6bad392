/** Decides which of several attached clients sets the size of a terminal: the one that typed last. */
import type { TerminalSize } from '../../../kit/types/terminal-size.ts';

interface ViewerSize {
  size: TerminalSize | null;
  hasTyped: boolean;
}

/** Replies of a terminal to a program, and reports of its focus. The terminal sends them, not the user. */
// oxlint-disable-next-line no-control-regex -- these are control sequences
const notTyped = /^(?:\x1b\[[?>\d;]*[cRnIO]|\x1b[\]P][^\x07\x1b]*(?:\x07|\x1b\\))+$/;
/** Longer input is not a reply. */
const maxReplyBytes = 4096;

export class ViewerSizes {
  /** The one whose size counts is the last that has typed, or else the last one. */
  #viewers: ViewerSize[] = [];

  constructor(private readonly apply: (size: TerminalSize) => void) {}

  /** True when a client that attaches now sets the size. */
  get isFree(): boolean {
    return !this.#viewers.some(({ hasTyped, size }) => hasTyped && size !== null);
  }

  /** Does not apply `size`: the caller has done so if `isFree`. Null for a client without a size of its own. */
  join(size: TerminalSize | null): Viewer {
    const viewer: ViewerSize = { size, hasTyped: false };
    this.#viewers.push(viewer);
    return {
      resize: (wanted) => {
        viewer.size = wanted;
        if (this.isFree) this.#moveToEnd(viewer);
        if (this.#owner === viewer) this.apply(wanted);
      },
      typed: (bytes) => {
        if ((viewer.hasTyped && this.#viewers.at(-1) === viewer) || isReply(bytes)) return;
        const isOwner = this.#owner === viewer;
        viewer.hasTyped = true;
        this.#moveToEnd(viewer);
        if (!isOwner && viewer.size !== null) this.apply(viewer.size);
      },
      leave: () => {
        const wasOwner = this.#owner === viewer;
        this.#viewers = this.#viewers.filter((other) => other !== viewer);
        const size = this.#owner?.size;
        if (wasOwner && size) this.apply(size);
      },
    };
  }

  get #owner(): ViewerSize | undefined {
    const sized = this.#viewers.filter(({ size }) => size !== null);
    return sized.findLast(({ hasTyped }) => hasTyped) ?? sized.at(-1);
  }

  #moveToEnd(viewer: ViewerSize): void {
    this.#viewers = [...this.#viewers.filter((other) => other !== viewer), viewer];
  }
}

export interface Viewer {
  /** The client wants another size. Throws what applying the size throws. */
  resize(size: TerminalSize): void;
  typed(bytes: Uint8Array): void;
  leave(): void;
}

function isReply(bytes: Uint8Array): boolean {
  return bytes.length <= maxReplyBytes && notTyped.test(Buffer.from(bytes).toString('latin1'));
}
