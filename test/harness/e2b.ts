/** A daemon that serves the protocol of E2B on ports of its own. */
import { freeFixedPort } from './free-port.ts';
import { needPython } from './interpreters.ts';
import { expect, fixture, type Json, type JsonObject, type Sandbox, type SandboxOptions } from './sandbox.ts';

type Port = 'files' | 'code' | 'api';

const ports = new WeakMap<Sandbox, Readonly<Record<Port, number>>>();

/** A daemon that serves the protocol on ports of its own. */
export function withE2b(options: SandboxOptions = {}): SandboxOptions {
  return {
    ...options,
    env: (sandbox) => {
      const { files, code, api } = ports.get(sandbox) ?? {
        files: freeFixedPort(),
        code: freeFixedPort(),
        api: freeFixedPort(),
      };
      ports.set(sandbox, { files, code, api });
      const { env = {} } = options;
      const own = typeof env === 'function' ? env(sandbox) : env;
      return {
        SVC_E2B: 'on',
        SVC_E2B_PORT: String(files),
        SVC_E2B_CODE_PORT: String(code),
        SVC_E2B_API_PORT: String(api),
        ...own,
      };
    },
  };
}

/** The port of processes and files serves the code interpreter too. */
export const urlOf = (sandbox: Sandbox, port: Port = 'files') => `http://127.0.0.1:${ports.get(sandbox)?.[port]}`;

/** What a program in test/fixtures, which uses the SDK for Python, printed, by name. */
export async function runClient(script: string, ...args: readonly string[]): Promise<JsonObject> {
  return Object.fromEntries(await startClient(script, ...args).end());
}

/** A program in test/fixtures that uses the SDK for Python. It reads lines, and prints names with values. */
export function startClient(script: string, ...args: readonly string[]) {
  const python = `${needPython('clients/e2b')}/bin/python`;
  const client = Bun.spawn([python, '-B', fixture(script), ...args], { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' });
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

async function* linesIn(stream: ReadableStream<Uint8Array>): AsyncGenerator<Shown, void> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const piece of stream) {
    const lines = `${text}${decoder.decode(piece, { stream: true })}`.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as Shown;
  }
}
