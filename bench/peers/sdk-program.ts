/** A program in Python that makes the calls of the bench with the published SDK of a protocol. */
import { join } from 'node:path';
import { linesOf } from './lines.ts';
import type { Contestant, Mover } from './peer.ts';

interface SdkProgram {
  /** The virtual environment with the SDK. */
  readonly place: string;
  /** A file of this folder, and its arguments. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** A number, or null after the last one, or the text of an error. */
type Answer = readonly [call: number, value: number | string | null];

export function openSdk(
  { name, pids }: Pick<Contestant, 'name' | 'pids'>,
  { place, command, environment }: SdkProgram,
): Contestant & Mover {
  const [file = '', ...args] = command;
  const client = Bun.spawn([join(place, 'bin/python'), '-B', join(import.meta.dirname, file), ...args], {
    env: { ...process.env, ...environment },
    stdin: 'pipe',
    stdout: 'pipe',
  });
  const calls = new Map<number, ReadableStreamDefaultController<number>>();
  let made = 0;
  const call = (...words: readonly string[]): ReadableStream<number> =>
    new ReadableStream({
      start(controller) {
        calls.set(++made, controller);
        void client.stdin.write(`${JSON.stringify([made, ...words])}\n`);
        void client.stdin.flush();
      },
    });
  const last = async (...words: readonly string[]): Promise<number> =>
    (await Array.fromAsync(call(...words))).at(-1) ?? NaN;
  void readAnswers(client.stdout, calls);
  return {
    name,
    pids,
    startMs: null,
    run: (script) => last('run', script),
    follow: (script) => call('follow', script),
    upload: async (target, source) => void (await last('upload', target, source)),
    download: (path) => last('download', path),
    async [Symbol.asyncDispose]() {
      client.kill();
      await client.exited;
    },
  };
}

async function readAnswers(
  output: ReadableStream<Uint8Array>,
  calls: Map<number, ReadableStreamDefaultController<number>>,
): Promise<void> {
  for await (const line of linesOf(new Response(output))) {
    const [number, value] = JSON.parse(line) as Answer;
    const call = calls.get(number);
    if (typeof value === 'number') call?.enqueue(value);
    else if (value === null) call?.close();
    else call?.error(new Error(`the SDK: ${value}`));
    if (typeof value !== 'number') calls.delete(number);
  }
  for (const call of calls.values()) call.error(new Error('the program with the SDK has ended'));
}
