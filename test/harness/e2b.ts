/** A daemon that serves the protocol of E2B, and programs that use its published SDK. */
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
        ...own,
        SVC_E2B: 'on',
        SVC_E2B_PORT: String(files),
        SVC_E2B_CODE_PORT: String(code),
        SVC_E2B_API_PORT: String(api),
      };
    },
  };
}

/** The port of processes and files serves the code interpreter too. */
export const urlOf = (sandbox: Sandbox, port: Port = 'files') => `http://127.0.0.1:${ports.get(sandbox)?.[port]}`;

/** What a program in test/fixtures, which uses the SDK for Python, printed, by name. */
export async function runClient(script: string, ...args: readonly string[]): Promise<JsonObject> {
  const python = `${needPython('engines/e2b')}/bin/python`;
  const client = Bun.spawn([python, '-B', fixture(script), ...args], { stdout: 'pipe', stderr: 'pipe' });
  const [stdout, stderr] = await Promise.all([client.stdout.text(), client.stderr.text()]);
  expect([await client.exited, stderr]).toEqual([0, '']);
  const lines = stdout.trim().split('\n');
  return Object.fromEntries(lines.map((line) => JSON.parse(line) as [string, Json]));
}
