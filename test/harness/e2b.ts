/** A daemon that serves the protocol of E2B on ports of its own. */
import { freeFixedPort } from './free-port.ts';
import { startProgram, type LineProgram } from './line-program.ts';
import { fixture, type JsonObject, type Sandbox, type SandboxOptions } from './sandbox.ts';

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

/** A program in test/fixtures that uses the SDK for Python. */
export const startClient = (script: string, ...args: readonly string[]): LineProgram =>
  startProgram('clients/e2b', fixture(script), ...args);
