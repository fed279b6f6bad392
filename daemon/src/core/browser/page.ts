/** A tab in use: its frames in all processes, its dialogs and requests, and calls into its documents. */
import { CdpClosed, CdpRefusal } from '../../protocols/cdp-errors.ts';
import { aborted, Deadline } from '../../kit/deadline.ts';
import { Mutex } from '../../kit/mutex.ts';
import { Notifier } from '../../kit/events/notifier.ts';
import { Dialogs } from './dialogs.ts';
import { assertRef, staleRef } from './failures.ts';
import { framesOf, readRef, refOf, type Frame } from './frames.ts';
import { Screencast } from './live/screencast.ts';
import type { NetworkRequests } from './requests.ts';
import type { CdpSessions, Session } from './session.ts';
import { Clickables } from './snapshot/clickables.ts';
import { KeptSnapshots } from './snapshot/kept.ts';
import { Worlds } from './worlds.ts';

export interface PageDeps {
  /** Of the browser, for frames of other processes. */
  readonly sessions: CdpSessions;
  readonly requests: NetworkRequests;
  /** The script of the isolated worlds. */
  readonly script: string;
}

/** An element that a ref names. */
export interface RefTarget {
  readonly frame: Frame;
  readonly number: number;
}

/** A frame of another process whose scripts do not end delays calls on the page this long. */
const maxFrameMs = 1000;

/** A page that does not run a script of one character in this time is held by another script. */
const maxHeldMs = 1000;
/** A loop of dialogs ends only after some hundred of them. */
const maxStopMs = 10_000;

/** Time for a page to agree to report how it loads. */
const maxAgreeMs = 2000;

export class Page {
  readonly dialogs = new Dialogs();
  readonly worlds: Worlds;
  readonly clickables: Clickables;
  readonly snapshots = new KeptSnapshots();
  readonly screencast: Screencast;
  /** One call at a time uses the pointer and the focus. */
  readonly input = new Mutex();
  /** One call at a time waits for a file chooser, because the browser does not say which click has opened it. */
  readonly chooser = new Mutex();
  /** Of the size that pictures give the view. */
  readonly view = new Mutex();
  /** Sessions of frames in other processes, by frame id, each with the session that reported it. */
  readonly #children = new Map<string, { readonly session: Session; readonly parent: Session }>();
  /** Sessions for which the browser has yet to report the frames of other processes. */
  #attaching = 0;
  readonly #attached = new Notifier();
  #isCrashed = false;
  #loading: string | null = null;
  /** Settles once the browser has agreed to report the life of the page. */
  #reporting: Promise<unknown> = Promise.resolve();

  constructor(
    readonly targetId: string,
    readonly session: Session,
    private readonly deps: PageDeps,
  ) {
    this.worlds = new Worlds(deps.script);
    this.clickables = new Clickables(this.worlds);
    this.screencast = new Screencast(targetId, session);
    session.on('Inspector.targetCrashed', () => this.#crash());
    // A page that had crashed before the daemon was attached has refused the commands.
    session.on('Inspector.targetReloadedAfterCrash', () => this.#enable(session));
    this.#followLoading();
    this.#prepare(session);
  }

  /** A crashed page answers nothing until it is loaded again. */
  get isCrashed(): boolean {
    return this.#isCrashed;
  }

  /** The URL of a navigation whose server has not answered yet. Until then the page handles no call. */
  get loading(): string | null {
    return this.#loading;
  }

  /**
   * Resolves when the page reports how it loads. A document that replaces one which has not agreed yet may never report;
   * one whose scripts do not end never agrees, so the wait is short.
   */
  async reports(signal: AbortSignal): Promise<void> {
    using limit = new Deadline(maxAgreeMs, signal);
    await Promise.race([this.#reporting, aborted(limit.signal)]);
  }

  /** The main frame first. */
  async frames(signal: AbortSignal): Promise<readonly Frame[]> {
    // A frame may have frames of other processes in turn, so the set may grow meanwhile.
    while (this.#attaching > 0) {
      signal.throwIfAborted();
      await this.#attached.wait(signal);
    }
    const trees = await Promise.all(
      [{ session: this.session }, ...this.#children.values()].map(({ session }) => this.#frameTree(session, signal)),
    );
    const frames = framesOf(
      this.targetId,
      trees.filter((tree) => tree !== null),
    );
    this.worlds.keepOnly(frames);
    return frames;
  }

  /** Calls `boxkeep[name](argument)` in the isolated world of the frame. */
  async call<T>(frame: Frame, name: string, argument: unknown, signal: AbortSignal): Promise<T> {
    return (await this.worlds.call(frame, { name, argument }, signal)).value as T;
  }

  /** Calls `boxkeep[name](element, argument)`. Throws `ref_stale`. */
  async callOn<T>({ frame, number }: RefTarget, name: string, argument: unknown, signal: AbortSignal): Promise<T> {
    const { value, isStale } = await this.worlds.call(frame, { name, argument, number }, signal);
    if (isStale) throw staleRef(refOf(number, frame));
    return value as T;
  }

  /** The id of a remote object in the isolated world. Throws `ref_stale`. */
  async objectOf({ frame, number }: RefTarget, signal: AbortSignal): Promise<string> {
    const objectId = await this.worlds.objectOf(frame, `boxkeep.elementOf(${number})`, signal);
    if (objectId === null) throw staleRef(refOf(number, frame));
    return objectId;
  }

  /** The element in the parent document that shows the frame; null for the main frame. */
  async ownerOf(frame: Frame, signal: AbortSignal): Promise<{ parent: Frame; objectId: string } | null> {
    const parent = (await this.frames(signal)).find(({ id }) => id === frame.parentId);
    if (!parent) return null;
    const { backendNodeId } = await parent.session.send('DOM.getFrameOwner', { frameId: frame.id }, signal);
    const objectId = await this.worlds.resolve(parent, backendNodeId, signal);
    return objectId === null ? null : { parent, objectId };
  }

  /** Throws `ref_stale` when no document of this page has given the ref. */
  async frameOf(ref: string, signal: AbortSignal): Promise<RefTarget> {
    assertRef(ref);
    const parts = readRef(ref);
    const frame = parts && (await this.frames(signal)).find(({ tag }) => tag === parts.tag);
    if (!frame) throw staleRef(ref);
    return { frame, number: parts.number };
  }

  /** Makes the page handle a navigation, which a script or another navigation may prevent. */
  async makeReady(signal: AbortSignal): Promise<void> {
    // A crashed page runs no script.
    if (this.#isCrashed) return;
    if (this.#loading !== null) this.session.tell('Page.stopLoading');
    await this.release(signal);
  }

  /**
   * Stops a script that holds the page, such as an endless loop. Such a page handles neither calls nor a navigation. A
   * page that answers is left alone, because the stop would hit its next script.
   */
  async release(signal?: AbortSignal): Promise<void> {
    if ((await this.#answers(maxHeldMs, signal)) || signal?.aborted) return;
    this.session.tell('Runtime.terminateExecution');
    // A navigation during a loop of dialogs would leave the page waiting for the answer to the last dialog.
    await this.#answers(maxStopMs, signal);
  }

  #followLoading(): void {
    const { session, targetId } = this;
    const end = () => {
      this.#loading = null;
    };
    session.on('Page.frameStartedNavigating', ({ frameId, url, navigationType }) => {
      if (frameId === targetId && navigationType !== 'sameDocument') this.#loading = url;
    });
    session.on('Page.frameNavigated', ({ frame }) => frame.id === targetId && end());
    session.on('Page.frameStoppedLoading', ({ frameId }) => frameId === targetId && end());
  }

  /** Called when a new document has been loaded into a crashed page. */
  recover(): void {
    this.#isCrashed = false;
  }

  /** False when the page does not run a script in this time. A page that has gone or crashed refuses at once. */
  async #answers(withinMs: number, signal: AbortSignal | undefined): Promise<boolean> {
    using limit = new Deadline(withinMs, ...(signal ? [signal] : []));
    try {
      await this.session.send('Runtime.evaluate', { expression: '0' }, limit.signal);
    } catch {
      // The caller looks at the result only.
    }
    return !limit.passed;
  }

  #prepare(session: Session): void {
    const { sessions, requests } = this.deps;
    this.dialogs.watch(session);
    requests.watch(session, this.targetId);
    session.on('Target.attachedToTarget', ({ sessionId, targetInfo: { targetId } }) => {
      const child = sessions.open(sessionId);
      child.on('Inspector.targetCrashed', () => child.interrupt(new CdpClosed('the frame has gone')));
      this.#children.set(targetId, { session: child, parent: session });
      this.#prepare(child);
    });
    session.on('Target.detachedFromTarget', ({ sessionId }) => this.#forget(sessionId));
    this.#enable(session);
  }

  /** Nothing is awaited, because a busy page would delay it. The browser handles the commands in order. */
  #enable(session: Session): void {
    // The browser reports a page that has crashed before.
    if (session === this.session) session.tell('Inspector.enable');
    const enabled = session.send('Page.enable', {});
    const reporting = session.send('Page.setLifecycleEventsEnabled', { enabled: true });
    const settled = Promise.allSettled([enabled, reporting]);
    if (session === this.session) this.#reporting = settled;
    // Bodies are not read, so the browser need not keep them.
    session.tell('Network.enable', { maxTotalBufferSize: 0, maxResourceBufferSize: 0 });
    this.#attachFrames(session);
  }

  /** The browser reports the frames that exist before it answers. */
  #attachFrames(session: Session): void {
    const settle = () => {
      this.#attaching -= 1;
      this.#attached.notify();
    };
    this.#attaching += 1;
    const params = { autoAttach: true, waitForDebuggerOnStart: false, flatten: true };
    const filter = [{ type: 'iframe' }, { exclude: true }];
    // A session that has ended has no frames.
    session.send('Target.setAutoAttach', { ...params, filter }).then(settle, settle);
  }

  /** Null when the frame of the session has gone meanwhile, or does not answer. */
  async #frameTree(session: Session, signal: AbortSignal) {
    using limit = new Deadline(session === this.session ? null : maxFrameMs, signal);
    try {
      const { frameTree: tree } = await session.send('Page.getFrameTree', undefined, limit.signal);
      return { tree, session };
    } catch (error) {
      if (limit.passed && !signal.aborted) return null;
      const isGone = session !== this.session && (session.isEnded || error instanceof CdpRefusal);
      if (!isGone) throw error;
      this.#forget(session.id);
      return null;
    }
  }

  /** The browser reports the end of a frame's session, and not of the sessions that the frame has reported. */
  #forget(sessionId: string | null): void {
    if (sessionId === null) return;
    for (const [id, { session, parent }] of this.#children) {
      if (session.id === sessionId) this.#children.delete(id);
      else if (parent.id === sessionId) this.#forget(session.id);
    }
    this.deps.sessions.close(sessionId, 'the frame has moved to another process');
  }

  #crash(): void {
    this.#isCrashed = true;
    this.session.interrupt(new CdpClosed('the page has crashed'));
  }
}
