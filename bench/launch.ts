/** Starts a server, detects from its log when it serves, and ends it. */
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { Limit } from './limit.ts';

const startLimitMs = 30_000;

interface Program {
  readonly command: readonly string[];
  /** Matches the log line that announces readiness. The groups go to `url`. */
  readonly serving: RegExp;
  readonly logsTo: 'stdout' | 'stderr';
  /** The page that answers first. Null where no HTTP is spoken. */
  readonly url: ((serving: RegExpExecArray) => string) | null;
  /** Added to the environment of the bench. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface Launched extends AsyncDisposable {
  readonly pid: number;
  readonly startMs: number;
  /** The match in the log line that announced readiness. */
  readonly serving: RegExpExecArray;
  /** The next such line. A server that its supervisor restarts prints another one. */
  nextServing(): Promise<RegExpExecArray>;
}

export async function launch(
  { command, serving, logsTo, url, environment = {} }: Program,
  limit: Limit | null,
): Promise<Launched> {
  const startedMs = performance.now();
  const child = Bun.spawn([...(limit?.enter ?? []), ...command], {
    stdin: 'ignore',
    stdout: logsTo === 'stdout' ? 'pipe' : 'ignore',
    stderr: logsTo === 'stderr' ? 'pipe' : 'inherit',
    env: { ...process.env, ...environment },
  });
  const log = new Log(child[logsTo] as ReadableStream<Uint8Array>, serving);
  const first = await log.next(command[0] ?? '');
  if (url) await fetch(url(first)).then((response) => response.arrayBuffer());
  return {
    pid: child.pid,
    startMs: performance.now() - startedMs,
    serving: first,
    nextServing: () => log.next(command[0] ?? ''),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await child.exited;
    },
  };
}

/** Reads all the time, because an unread pipe would block the server. */
class Log {
  readonly #found: RegExpExecArray[] = [];
  #wake = Promise.withResolvers<void>();
  #hasEnded = false;

  constructor(stream: ReadableStream<Uint8Array>, serving: RegExp) {
    void this.#read(stream, serving);
  }

  async next(program: string): Promise<RegExpExecArray> {
    const deadline = AbortSignal.timeout(startLimitMs);
    const isLate = once(deadline, 'abort').then(() => this.#hasEnded || Promise.reject(deadline.reason));
    while (this.#found.length === 0) {
      if (this.#hasEnded) throw new Error(`${program} ended before it served`);
      await Promise.race([this.#wake.promise, isLate]);
    }
    return this.#found.shift()!;
  }

  async #read(stream: ReadableStream<Uint8Array>, serving: RegExp): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const piece of stream) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const match = serving.exec(line);
        if (match) this.#found.push(match);
      }
      this.#wake.resolve();
      this.#wake = Promise.withResolvers();
    }
    this.#hasEnded = true;
    this.#wake.resolve();
  }
}

/** A free port for a program that cannot choose one itself. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
