/** Reaches a server of the E2B protocol with the SDK for Python, in a virtual environment in the user's cache. */
import { join } from 'node:path';
import { virtualEnvironment } from '../install.ts';
import { linesOf } from './lines.ts';
import type { Contestant, Mover } from './peer.ts';

const release = 'e2b==2.63.0';
const program = join(import.meta.dirname, 'e2b-sdk.py');

/** A number, or null after the last one, or the text of an error. */
type Answer = readonly [call: number, value: number | string | null];

export function openSdk({ name, url = '', pids }: Contestant): Contestant & Mover {
  const place = virtualEnvironment({ name: release, packages: [release], program: 'httpx' });
  const client = Bun.spawn([join(place, 'bin/python'), '-B', program], {
    env: { ...process.env, E2B_SANDBOX_URL: url },
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
