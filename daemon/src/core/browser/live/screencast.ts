/** Pictures of one tab as it changes, for any number of viewers, as fast as one of them takes them. */
import { untilAborted } from '../../../kit/shared-work.ts';
import { Notifier } from '../../../kit/events/notifier.ts';
import type { LivePicture } from '../../../kit/types/live-picture.ts';
import type { CdpEvents, CdpParams } from '../../../platform/clients/cdp-connection.ts';
import { sizeOfImage } from '../image-size.ts';
import type { Session } from '../session.ts';

/** A state of the tab. */
export interface Shot {
  /** Grows with every state. */
  readonly number: number;
  /** Null when the tab has gone to the background, where it draws nothing. */
  readonly picture: LivePicture | null;
}

/** A larger view is made smaller. The browser sends the next picture when it is asked, and then the newest one. */
const settings: CdpParams<'Page.startScreencast'> = {
  ...{ format: 'jpeg', quality: 70, maxWidth: 1920, maxHeight: 1200 },
  ...{ maxFramesInFlight: 1, sendLastFrame: true },
};

export class Screencast {
  readonly #changed = new Notifier();
  #starting: Promise<unknown> | null = null;
  #viewers = 0;
  #latest: Shot = { number: 0, picture: null };
  /** The browser sends the next picture once this one is acknowledged. */
  #unacknowledged: number | null = null;

  constructor(
    private readonly targetId: string,
    private readonly session: Session,
  ) {
    session.on('Page.screencastFrame', (frame) => this.#receive(frame));
    session.on('Page.screencastVisibilityChanged', ({ visible }) => !visible && this.#add(null));
  }

  /** False while the tab is in the background. */
  get isShown(): boolean {
    return this.#latest.picture !== null;
  }

  /** The browser takes pictures from the first viewer to the last, who leaves by disposing of the result. */
  async join(signal: AbortSignal): Promise<Disposable> {
    this.#viewers += 1;
    const leave = () => {
      this.#viewers -= 1;
      if (this.#viewers === 0) this.#stop();
    };
    try {
      this.#starting ??= this.session.send('Page.startScreencast', settings);
      await untilAborted(this.#starting, signal);
    } catch (error) {
      leave();
      throw error;
    }
    return { [Symbol.dispose]: leave };
  }

  /**
   * The newest state, once there is one after this number. The browser sends the next picture only now that a viewer
   * asks for it, so that it is the newest one. Rejects with the reason of the signal.
   */
  async next(after: number, signal: AbortSignal): Promise<Shot> {
    while (this.#latest.number <= after) {
      signal.throwIfAborted();
      if (this.#unacknowledged !== null) this.#acknowledge(this.#unacknowledged);
      await this.#changed.wait(signal);
    }
    return this.#latest;
  }

  #receive({ data, metadata, sessionId }: CdpEvents['Page.screencastFrame'][0]): void {
    if (this.#viewers === 0) return; // It was sent before the browser had stopped.
    // An older browser sends several pictures ahead.
    if (this.#unacknowledged !== null) this.#acknowledge(this.#unacknowledged);
    this.#unacknowledged = sessionId;
    const bytes = Uint8Array.fromBase64(data);
    const screen = { width: Math.round(metadata.deviceWidth), height: Math.round(metadata.deviceHeight) };
    this.#add({ bytes, image: sizeOfImage(bytes) ?? screen, screen, tabId: this.targetId });
  }

  #add(picture: LivePicture | null): void {
    this.#latest = { number: this.#latest.number + 1, picture };
    this.#changed.notify();
  }

  #acknowledge(sessionId: number): void {
    this.#unacknowledged = null;
    this.session.tell('Page.screencastFrameAck', { sessionId });
  }

  /** The picture is dropped, because the tab changes before the next viewer comes. */
  #stop(): void {
    this.#starting = null;
    this.#unacknowledged = null;
    this.#latest = { number: 0, picture: null };
    this.session.tell('Page.stopScreencast');
  }
}
