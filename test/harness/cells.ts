/** Runs cells through the daemon on each backend, for tests that all backends share. */
import { withKernels } from './kernels.ts';
import { needPrograms } from './programs.ts';
import type { Json, JsonObject, Sandbox, SandboxOptions } from './sandbox.ts';

export interface Backend {
  /** The name that answers contain. */
  readonly name: 'native' | 'node' | 'kernel';
  readonly language: 'python' | 'javascript';
  readonly options: SandboxOptions;
}

export const nativePython: Backend = {
  name: 'native',
  language: 'python',
  options: { env: { SVC_CODE_BACKEND: 'native' } },
};
export const node: Backend = { name: 'node', language: 'javascript', options: {} };
export const kernel: Backend = {
  name: 'kernel',
  language: 'python',
  options: withKernels({ SVC_CODE_BACKEND: 'kernel' }),
};
export const backends = [nativePython, node, kernel] as const;

needPrograms('python3', 'node');

/** The session in which `run` and `Session` run cells. */
const id = 'state';

/** Runs the cells of one session. */
export class Session {
  constructor(
    readonly sandbox: Sandbox,
    readonly backend: Backend,
  ) {}

  /** The result of a cell, successful or not. */
  async run(code: string, more: Record<string, Json> = {}): Promise<JsonObject> {
    return await runCell(this.sandbox, this.backend, code, { session_id: id, ...more });
  }

  read(): Promise<JsonObject> {
    return this.sandbox.ok(`GET /v2/code/sessions/${id}`);
  }

  /** The output of the last cell so far. */
  async shown(): Promise<Json> {
    return ((await this.read())['last_execution'] as JsonObject | null)?.['stdout'] ?? null;
  }

  /** Calls a verb of the session. */
  ask(verb: 'interrupt' | 'restart'): Promise<JsonObject> {
    return this.sandbox.ok(`POST /v2/code/sessions/${id}/${verb}`);
  }

  delete(): Promise<JsonObject> {
    return this.sandbox.ok(`DELETE /v2/code/sessions/${id}`);
  }
}

/** Runs a cell outside of sessions, unless `more` names one. */
export async function runCell(
  sandbox: Sandbox,
  { language }: Backend,
  code: string,
  more: Record<string, Json> = {},
): Promise<JsonObject> {
  const reply = await sandbox.request('POST /v2/code/execute', { language, code, ...more });
  if (reply.status !== 200) throw new Error(`${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body.data;
}

export const outputs = (result: JsonObject): JsonObject[] => result['outputs'] as JsonObject[];

/** The value of the last expression as text. Null where there is none. */
export function value(result: JsonObject): Json {
  const shown = outputs(result).findLast(({ output_type: type }) => type === 'execute_result');
  return (shown?.['data'] as JsonObject | undefined)?.['text/plain'] ?? null;
}

/** The name of the error that ended the cell. Null without one. */
export function errorName(result: JsonObject): Json {
  return outputs(result).findLast(({ output_type: type }) => type === 'error')?.['ename'] ?? null;
}
