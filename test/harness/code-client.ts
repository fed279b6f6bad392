/** What tests ask of the code routes, and how they read the answers. */
import { expect, type Json, type JsonObject, type Reply, type EnvelopeBody, type Sandbox } from './sandbox.ts';

type Body = Readonly<Record<string, Json>>;

export function execute(sandbox: Sandbox, body: Body): Promise<Reply<EnvelopeBody>> {
  return sandbox.request('POST /v2/code/execute', body);
}

/** The result of a cell, however it has ended; it must have run. */
export async function run(sandbox: Sandbox, body: Body): Promise<JsonObject> {
  const reply = await execute(sandbox, body);
  if (reply.status !== 200) throw new Error(`${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body.data;
}

/** The lines of a stream. */
export async function executeLines(sandbox: Sandbox, body: Body): Promise<JsonObject[]> {
  const response = await sandbox.fetch('POST /v2/code/execute', body, { headers: { accept: 'application/x-ndjson' } });
  expect(response.headers.get('content-type')).toBe('application/x-ndjson');
  const lines = (await response.text()).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as JsonObject);
}

export const outputsOf = (result: JsonObject): JsonObject[] => result['outputs'] as JsonObject[];

/** The value of the last expression, as text. */
export function valueOf(result: JsonObject): Json {
  const shown = outputsOf(result).find((output) => output['output_type'] === 'execute_result');
  return (shown?.['data'] as JsonObject | undefined)?.['text/plain'] ?? null;
}

export const sessionOf = (sandbox: Sandbox, id: string): Promise<JsonObject> =>
  sandbox.ok(`GET /v2/code/sessions/${id}`);

/** What the cell that runs in the session has printed so far; '' while none runs, also before there is such a session. */
export async function printedIn(sandbox: Sandbox, id: string): Promise<Json> {
  const { body } = await sandbox.request(`GET /v2/code/sessions/${id}`);
  const last = body.data?.['last_execution'] as JsonObject | null;
  return body.data?.['state'] === 'busy' ? (last?.['stdout'] ?? '') : '';
}
