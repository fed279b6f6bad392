/** A daemon that serves the runtime interface of agent-sandbox on ports of its own. */
import { join } from 'node:path';
import { freeFixedPort } from './free-port.ts';
import { startProgram, type LineProgram } from './line-program.ts';
import { repositoryRoot, type JsonObject, type Sandbox, type SandboxOptions } from './sandbox.ts';

interface Ports {
  readonly rest: number;
  readonly grpc: number;
  readonly legacy: number;
}

const ports = new WeakMap<Sandbox, Ports>();

export function withAgentSandbox(options: SandboxOptions = {}): SandboxOptions {
  return {
    ...options,
    env: (sandbox) => {
      const { rest, grpc, legacy } = portsOf(sandbox);
      const { env = {} } = options;
      return {
        SVC_AGENT_SANDBOX: 'on',
        SVC_AGENT_SANDBOX_REST_PORT: String(rest),
        SVC_AGENT_SANDBOX_GRPC_PORT: String(grpc),
        SVC_AGENT_SANDBOX_LEGACY_PORT: String(legacy),
        SVC_AGENT_SANDBOX_ROOT: rootOf(sandbox),
        ...(typeof env === 'function' ? env(sandbox) : env),
      };
    },
  };
}

/** They stay when the daemon of a sandbox starts again. */
export function portsOf(sandbox: Sandbox): Ports {
  const known = ports.get(sandbox) ?? { rest: freeFixedPort(), grpc: freeFixedPort(), legacy: freeFixedPort() };
  ports.set(sandbox, known);
  return known;
}

export const urlOf = (sandbox: Sandbox, port: keyof Ports = 'rest') => `http://127.0.0.1:${portsOf(sandbox)[port]}`;

/** The directory to which paths are confined. */
export const rootOf = (sandbox: Sandbox) => join(sandbox.directory, 'workspace');

/** A program of Python that calls the RPCs with a plain client. */
export const startGrpc = (script: string, sandbox: Sandbox, ...args: readonly string[]): LineProgram =>
  startProgram(
    'clients/agent-sandbox',
    join(repositoryRoot, 'test/fixtures', script),
    `127.0.0.1:${portsOf(sandbox).grpc}`,
    ...args,
  );

export async function runGrpc(script: string, sandbox: Sandbox, ...args: readonly string[]): Promise<JsonObject> {
  return Object.fromEntries(await startGrpc(script, sandbox, ...args).end());
}
