/** A fuzzed session that outputs exactly the given bytes and records exactly the typed bytes. */
import { closeSync, openSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ByteRecord, Mismatch } from './terminal-fuzz-bytes.ts';
import type { FuzzedDaemon } from './terminal-fuzz-daemon.ts';
import { Typist } from './terminal-fuzz-typist.ts';
import { Viewer, type AttachWish } from './terminal-fuzz-viewer.ts';
import { until } from './until.ts';

const settledWithinMs = 20_000;
const maxViewers = 4;
const typing: AttachWish = {
  protocol: 'binary',
  mode: 'rw',
  durable: false,
  offset: null,
  restore: false,
  acks: false,
};

/** In raw mode a terminal passes bytes unchanged. The reader and the writer are one job. */
const program = (pipe: string, typed: string) =>
  `exec sh -c 'stty raw -echo; cat <>${pipe} & printf "<REA""DY>"; exec cat >${typed}'`;

interface Ends {
  readonly typist: Typist;
  /** Copies into the pipe whose content the program outputs. */
  readonly writer: Bun.Subprocess<'pipe', number, 'ignore'>;
  /** The output of the session before the program started. */
  readonly shown: Uint8Array;
}

export class FuzzedSession {
  readonly shown = { bytes: new ByteRecord(), isLearned: false };
  viewers: Viewer[] = [];
  /** The furthest offset that any durable viewer has received. */
  durableEnd = 0;
  isEnded = false;

  private constructor(
    private readonly daemon: FuzzedDaemon,
    readonly id: string,
    private readonly ends: Ends,
    private readonly onProblem: (problem: Mismatch) => void,
  ) {
    this.shown.bytes.append(ends.shown);
  }

  static async start(daemon: FuzzedDaemon, id: string, backend: 'native' | 'tmux'): Promise<FuzzedSession> {
    const { sandbox } = daemon;
    const [pipe, typed] = ['pipe', 'typed'].map((name) => join(sandbox.directory, `${id}-${name}`)) as [string, string];
    spawnSync('mkfifo', [pipe]);
    const onProblem = (problem: Mismatch) => daemon.note(new Mismatch(`${id}: ${problem.message}`));
    const { shown, taken } = await daemon.quiet(async () => {
      await sandbox.ok('POST /v2/pty/sessions', { id, env: { HOME: sandbox.directory } });
      await sandbox.ok(`POST /v2/pty/sessions/${id}/input`, { input: program(pipe, typed), press_enter: true });
      return await startedAt(daemon, id);
    });
    const out = openSync(pipe, 'r+');
    const writer = Bun.spawn(['cat'], { stdin: 'pipe', stdout: out, stderr: 'ignore' });
    closeSync(out);
    const path = `/v2/pty/sessions/${id}`;
    const typist = new Typist(daemon, { path, typed, taken, backend }, () => session.connect(typing));
    const session: FuzzedSession = new FuzzedSession(daemon, id, { typist, writer, shown }, onProblem);
    return session;
  }

  get path(): string {
    return `/v2/pty/sessions/${this.id}`;
  }

  get typist(): Typist {
    return this.ends.typist;
  }

  /** Appends bytes to the program's output. */
  emit(bytes: Uint8Array): void {
    this.shown.bytes.append(bytes);
    void this.ends.writer.stdin.write(bytes);
    void this.ends.writer.stdin.flush();
  }

  async attach(wish: AttachWish): Promise<void> {
    this.#forgetGone();
    if (this.viewers.length >= maxViewers) await this.leave(this.viewers[0], 'close');
    const isBehind = this.viewers.every((viewer) => !viewer.wish.durable);
    const received = this.durableReceived;
    const { deaths } = this.daemon;
    const viewer = await this.daemon.through(() => this.connect(wish));
    if (viewer === null) return;
    this.viewers.push(viewer);
    const from = viewer.ready?.['offset'] as number;
    // If emitted bytes are not output yet, the viewer begins earlier.
    if (wish.offset !== null && from > wish.offset) throw new Mismatch(`began at ${from}, and not at ${wish.offset}`);
    const isContinued = wish.durable && wish.offset === null && !wish.restore;
    // Output that arrives while this viewer attaches may have gone to another durable viewer.
    const known = isBehind && deaths === this.daemon.deaths ? received : this.durableReceived;
    if (isContinued && from > known) {
      throw new Mismatch(`a durable viewer begins at ${from}, and no viewer was shown output past ${known}`);
    }
  }

  /** The connection may end only when the viewer, the session or the daemon ends. */
  async connect(wish: AttachWish): Promise<Viewer> {
    const { deaths } = this.daemon;
    const viewer = await Viewer.attach(this.daemon.url, this.id, this.shown, wish, this.onProblem);
    void viewer.ended.then((end) => {
      const isMeant = viewer.isLeft || this.isEnded || deaths !== this.daemon.deaths;
      if (!isMeant) this.onProblem(new Mismatch(`a connection ended: ${JSON.stringify([end, wish, viewer.at])}`));
    });
    return viewer;
  }

  /** Disconnects one viewer in the given way. */
  async leave(viewer: Viewer | undefined, how: 'close' | 'acknowledge' | 'drop'): Promise<void> {
    if (!viewer) return;
    if (how === 'drop') await viewer.drop();
    else {
      if (how === 'acknowledge') viewer.acknowledge();
      await viewer.close();
    }
    this.#forgetGone();
  }

  /** The furthest offset that any durable viewer has received, updated from the current viewers. */
  get durableReceived(): number {
    for (const { wish, at } of this.viewers) if (wish.durable) this.durableEnd = Math.max(this.durableEnd, at);
    return this.durableEnd;
  }

  /** Checks that every viewer has received everything, and that the program has read all input. */
  async settle(): Promise<void> {
    await this.typist.finish();
    this.emit(Buffer.from('.')); // Completes an unfinished character, which the daemon would otherwise hold back.
    this.#forgetGone();
    const { deaths } = this.daemon;
    await this.attach({ ...typing, mode: 'ro', durable: true });
    const end = this.shown.bytes.length;
    const open = this.viewers.filter((viewer) => viewer.isOpen);
    for (const viewer of open) if (viewer.wish.acks) viewer.acknowledge();
    const isShown = () => {
      for (const viewer of open) if (viewer.wish.acks && viewer.at < end) viewer.acknowledge();
      return open.every((viewer) => viewer.at === end || !viewer.isOpen);
    };
    await until(`${this.id}: all is shown`, isShown, settledWithinMs).catch((error: unknown) => {
      throw new Mismatch(`${String(error)}: ${JSON.stringify(open.map(({ at, wish }) => [at, wish]))} of ${end}`);
    });
    await this.typist.arrived();
    await this.#continue(end, deaths);
  }

  /**
   * A durable viewer that has acknowledged everything resumes exactly there. `deaths` were counted before that viewer
   * attached, because a connection of a daemon that has died since may still look open.
   */
  async #continue(end: number, deaths: number): Promise<void> {
    const open = this.viewers.filter((viewer) => viewer.isOpen);
    for (const viewer of open) await this.leave(viewer, 'acknowledge');
    // If the daemon died while the durable viewer attached, no durable viewer has acknowledged.
    if (!open.some(({ at, wish }) => wish.durable && at === end)) return;
    const next = await this.daemon.through(() => this.connect({ ...typing, mode: 'ro', durable: true }));
    const from = next?.ready?.['offset'] as number | undefined;
    await next?.close();
    if (from === end || deaths !== this.daemon.deaths) return;
    throw new Mismatch(`${end} was acknowledged, and the next durable viewer began at ${from}`);
  }

  /** Every viewer is notified of the end. */
  async close(): Promise<void> {
    this.isEnded = true;
    const { deaths } = this.daemon;
    await this.#delete();
    void this.ends.writer.stdin.end();
    await this.ends.writer.exited;
    const open = [...this.viewers, ...(this.typist.viewer ? [this.typist.viewer] : [])].filter((one) => !one.isLeft);
    await until(`${this.id}: the sockets end`, () => open.every((viewer) => !viewer.isOpen));
    if (deaths !== this.daemon.deaths) return;
    const strangers = open.filter(({ end }) => end?.code !== 4000 && end?.code !== null);
    if (strangers.length > 0) throw new Mismatch(`${this.id} was closed: ${JSON.stringify(strangers[0]?.end)}`);
  }

  /** The session may have been deleted although the answer was lost. */
  async #delete(): Promise<void> {
    for (let isAgain = false; ; isAgain = true) {
      const reply = await this.daemon.through(() => this.daemon.sandbox.request(`DELETE ${this.path}`));
      if (reply === null) continue;
      if (reply.status === 200 || (isAgain && reply.status === 404)) return;
      throw new Mismatch(`DELETE ${this.path}: ${reply.status} ${JSON.stringify(reply.body)}`);
    }
  }

  #forgetGone(): void {
    void this.durableReceived;
    this.viewers = this.viewers.filter((viewer) => viewer.isOpen);
  }
}

/** Reads the output from before the program started. */
async function startedAt(daemon: FuzzedDaemon, id: string): Promise<{ shown: Buffer; taken: number }> {
  const learned = { bytes: new ByteRecord(), isLearned: true };
  const problems: Mismatch[] = [];
  const wish = { ...typing, mode: 'ro', offset: 0 } as const;
  const viewer = await Viewer.attach(daemon.url, id, learned, wish, (problem) => problems.push(problem));
  await until(`${id} is ready`, () => learned.bytes.slice(0).includes('<READY>'), settledWithinMs);
  await viewer.close();
  if (problems[0]) throw problems[0];
  const again = await Viewer.attach(daemon.url, id, learned, wish, (problem) => problems.push(problem));
  await again.close();
  return { shown: learned.bytes.slice(0), taken: again.ready?.['input_offset'] as number };
}
