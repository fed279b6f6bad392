/** A fuzzed session at its prompt: runs commands whose effects in the shell can be counted. */
import { ByteRecord, Mismatch } from './terminal-fuzz-bytes.ts';
import type { FuzzedDaemon } from './terminal-fuzz-daemon.ts';
import type { JsonObject } from './sandbox.ts';
import { Viewer, type AttachWish } from './terminal-fuzz-viewer.ts';

export const commandKinds = ['count', 'fail', 'syntax', 'long', 'late', 'interrupted', 'exit'] as const;
export type CommandKind = (typeof commandKinds)[number];

interface Expected {
  readonly command: string;
  readonly output: string | null;
  readonly exitCode: number | null;
  readonly status?: string;
  readonly fields?: object;
}

export class FuzzedShell {
  readonly shown = { bytes: new ByteRecord(), isLearned: true };
  #viewer: Viewer | null = null;
  /** The value of the shell's counter. Null after a request whose answer was lost. */
  #count: number | null = 0;
  #least = 0;
  #most = 0;

  private constructor(
    private readonly daemon: FuzzedDaemon,
    readonly id: string,
  ) {}

  static async start(daemon: FuzzedDaemon, id: string): Promise<FuzzedShell> {
    const shell = new FuzzedShell(daemon, id);
    await daemon.quiet(() =>
      daemon.sandbox.ok('POST /v2/pty/sessions', { id, env: { HOME: daemon.sandbox.directory } }),
    );
    return shell;
  }

  get path(): string {
    return `/v2/pty/sessions/${this.id}`;
  }

  async run(kind: CommandKind, number: number): Promise<void> {
    if (this.#count === null) await this.#learn();
    const before = this.#count ?? 0;
    const expected = this.#expected(kind, before + 1, number);
    const isCounted = kind !== 'syntax';
    const answer = await this.#exec(expected);
    if (answer === null) {
      this.#least = before;
      this.#most = before + (isCounted ? 1 : 0);
      this.#count = null;
      if (kind === 'exit') this.#least = 0;
      return;
    }
    this.#count = kind === 'exit' ? 0 : before + (isCounted ? 1 : 0);
    this.#compare(answer, expected);
  }

  /** Attaches a viewer, whose output must equal that of all other viewers. */
  async watch(wish: AttachWish): Promise<void> {
    await this.#viewer?.drop();
    const onProblem = (problem: Mismatch) => this.daemon.note(new Mismatch(`${this.id}: ${problem.message}`));
    const offset = wish.offset === null ? null : Math.min(wish.offset, this.shown.bytes.length);
    const attach = () =>
      Viewer.attach(this.daemon.url, this.id, this.shown, this.#known({ ...wish, offset }), onProblem);
    this.#viewer = await this.daemon.through(attach);
  }

  async settle(): Promise<void> {
    await this.#learn();
    await this.#viewer?.drop();
    this.#viewer = null;
  }

  async close(): Promise<void> {
    await this.#viewer?.drop();
    for (let isAgain = false; ; isAgain = true) {
      const reply = await this.daemon.through(() => this.daemon.sandbox.request(`DELETE ${this.path}`));
      if (reply?.status === 200 || (isAgain && reply?.status === 404)) return;
      if (reply) throw new Mismatch(`DELETE ${this.path}: ${reply.status}`);
    }
  }

  /** Output at an unknown offset cannot be joined with the known output. */
  #known(wish: AttachWish): AttachWish {
    return { ...wish, offset: wish.offset ?? this.shown.bytes.length, restore: false };
  }

  async #learn(): Promise<void> {
    const command = 'echo "at ${n:-0}"';
    for (;;) {
      const answer = await this.#exec({ command, output: null, exitCode: 0 });
      if (answer === null) continue;
      const count = Number(/^at (\d+)\n$/.exec(answer['output'] as string)?.[1]);
      const isKnown = this.#count === null ? count >= this.#least && count <= this.#most : count === this.#count;
      if (!isKnown) throw new Mismatch(`${this.id}: the shell is at ${JSON.stringify(answer)}, not at ${this.#count}`);
      this.#count = count;
      return;
    }
  }

  #exec({ command, fields = {} }: Expected): Promise<JsonObject | null> {
    const { sandbox } = this.daemon;
    return this.daemon.through(() => sandbox.ok(`POST ${this.path}/exec`, { command, ...fields }));
  }

  #compare(answer: JsonObject, { output, exitCode, status = 'completed' }: Expected): void {
    const isSame =
      answer['status'] === status &&
      (exitCode === -1 ? answer['exit_code'] !== 0 : answer['exit_code'] === exitCode) &&
      (output === null || answer['output'] === output);
    if (isSame) return;
    const text = JSON.stringify(answer).slice(0, 2000);
    throw new Mismatch(`${this.id}: ${JSON.stringify({ output: output?.slice(0, 200), exitCode, status })}: ${text}`);
  }

  #expected(kind: CommandKind, count: number, number: number): Expected {
    const add = 'n=$((n+1));';
    switch (kind) {
      case 'count':
        return { command: `${add} echo count $n`, output: `count ${count}\n`, exitCode: 0 };
      case 'fail':
        return { command: `${add} echo no >&2; (exit ${number % 256})`, output: 'no\n', exitCode: number % 256 };
      case 'syntax':
        return { command: ['if', 'echo "half', ') oops', 'for x in'][number % 4] ?? 'if', output: null, exitCode: -1 };
      case 'long': {
        const lines = 1 + (number % 2000);
        const output = Array.from({ length: lines }, (_, n) => `${n + 1}\n`).join('');
        return { command: `${add}\nseq ${lines}`, output, exitCode: 0, fields: { truncate: false } };
      }
      case 'late':
        return {
          ...{ command: `${add} echo first; sleep 0.0${number % 10}; echo last`, output: 'first\nlast\n', exitCode: 0 },
          fields: { timeout: 20 },
        };
      case 'interrupted':
        return {
          ...{ command: `${add} sleep 100`, output: null, exitCode: null, status: 'hard_timeout' },
          fields: { hard_timeout: 0.05 },
        };
      case 'exit':
        return { command: `exit ${number % 256}`, output: null, exitCode: number % 256 };
    }
  }
}
