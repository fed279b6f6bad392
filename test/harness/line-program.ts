/** Drives a program that reads lines, and prints names with values as JSON. */
import { needPython } from './interpreters.ts';
import { expect, type Json } from './sandbox.ts';

export type LineProgram = ReturnType<typeof startCommand>;

/** Starts a program of Python with the packages of a folder in `test`. */
export function startProgram(packages: string, path: string, ...args: readonly string[]): LineProgram {
  return startCommand([`${needPython(packages)}/bin/python`, '-B', path, ...args]);
}

export function startCommand(command: readonly string[]) {
  const client = Bun.spawn([...command], { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' });
  const stderr = client.stderr.text();
  const shown = linesIn(client.stdout);
  return {
    tell: (line: string) => client.stdin.write(`${line}\n`),
    /** What it prints next. */
    async next(): Promise<Shown> {
      const { value, done } = await shown.next();
      if (done) throw new Error(`the client has ended: ${await stderr}`);
      return value;
    },
    /** What it prints until its end. */
    async end(): Promise<Shown[]> {
      await client.stdin.end();
      const rest = await Array.fromAsync(shown);
      expect([await client.exited, await stderr]).toEqual([0, '']);
      return rest;
    },
  };
}

type Shown = [name: string, value: Json];

/** Each line of the output, as it comes. */
export async function* linesIn(stream: ReadableStream<Uint8Array>): AsyncGenerator<Shown, void> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const piece of stream) {
    const lines = `${text}${decoder.decode(piece, { stream: true })}`.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as Shown;
  }
}
