/** Answers the dialogs of a page by the policy of the call that runs, and records them for its answer. */
import type { CdpEvents } from '../../platform/clients/cdp-connection.ts';
import type { Session } from './session.ts';

export interface DialogPolicy {
  /** Null accepts `alert` and `beforeunload`, and dismisses `confirm` and `prompt`. */
  readonly action: 'accept' | 'dismiss' | null;
  /** The text for a `prompt` that is accepted. */
  readonly text: string | null;
}

export interface DialogRecord {
  readonly type: 'alert' | 'beforeunload' | 'confirm' | 'prompt';
  readonly message: string;
  readonly defaultText: string | null;
  readonly isAccepted: boolean;
}

type Opening = CdpEvents['Page.javascriptDialogOpening'][0];

/** A page that opens more during one call has a loop without end, which is then stopped. */
export const maxDialogs = 10;
const maxMessageCharacters = 2000;

export class Dialogs {
  readonly #open: { readonly opening: Opening; readonly session: Session }[] = [];
  readonly #calls = new Set<DialogCall>();
  /** Pages whose script is being stopped. */
  readonly #stopping = new Set<Session>();

  /** Answers what has been left open, and from now on every dialog until the call ends. */
  begin(policy: DialogPolicy): DialogCall {
    const call = new DialogCall(policy, () => this.#calls.delete(call));
    this.#calls.add(call);
    for (const { opening, session } of this.#open.splice(0)) this.#answer(opening, session);
    return call;
  }

  watch(session: Session): void {
    session.on('Page.javascriptDialogOpening', (opening) => this.#answer(opening, session));
    // A person at the screen may answer too.
    session.on('Page.javascriptDialogClosed', () => {
      const index = this.#open.findIndex((open) => open.session === session);
      if (index !== -1) this.#open.splice(index, 1);
    });
  }

  /** A dialog that opens while no call runs stays open for a person at the screen. */
  #answer(opening: Opening, session: Session): void {
    const latest = [...this.#calls].at(-1);
    if (latest === undefined) return void this.#open.push({ opening, session });
    const record = answerTo(opening, latest.policy);
    const { isAccepted: accept } = record;
    const text = record.type === 'prompt' && accept ? (latest.policy.text ?? opening.defaultPrompt ?? '') : undefined;
    session.tell('Page.handleJavaScriptDialog', { accept, ...(text !== undefined && { promptText: text }) });
    for (const call of this.#calls) call.add(record);
    if (latest.count > maxDialogs) this.#stop(session);
  }

  /**
   * V8 looks for this request only every few hundred turns of a short loop. A second request would be refused
   * meanwhile.
   */
  #stop(session: Session): void {
    if (this.#stopping.has(session)) return;
    this.#stopping.add(session);
    for (const call of this.#calls) call.noteLoop();
    const isOver = () => this.#stopping.delete(session);
    // A page that has gone needs no stop.
    session.send('Runtime.terminateExecution').then(isOver, isOver);
  }
}

export class DialogCall implements Disposable {
  readonly #records: DialogRecord[] = [];
  #count = 0;
  #hasLoop = false;

  constructor(
    readonly policy: DialogPolicy,
    private readonly end: () => void,
  ) {}

  /** The first dialogs of the call. */
  get records(): readonly DialogRecord[] {
    return this.#records;
  }

  get count(): number {
    return this.#count;
  }

  /** True when the daemon has begun to stop a loop of dialogs during the call, and not for an earlier call. */
  get hasLoop(): boolean {
    return this.#hasLoop;
  }

  noteLoop(): void {
    this.#hasLoop = this.#count > maxDialogs;
  }

  add(record: DialogRecord): void {
    this.#count += 1;
    if (this.#records.length < maxDialogs) this.#records.push(record);
  }

  [Symbol.dispose](): void {
    this.end();
  }
}

function answerTo({ type, message, defaultPrompt }: Opening, { action }: DialogPolicy): DialogRecord {
  const isAccepted = action === null ? type === 'alert' || type === 'beforeunload' : action === 'accept';
  return {
    type,
    message: message.slice(0, maxMessageCharacters),
    defaultText: type === 'prompt' ? (defaultPrompt ?? '') : null,
    isAccepted,
  };
}
