/** Calls the 1.x file routes as their clients do: with JSON bodies, and forms with a Content-Length. */
import { join } from 'node:path';
import { expect } from 'bun:test';
import { form, formType, type Part } from './form.ts';
import type { EnvelopeBody, JsonObject, Sandbox } from './sandbox.ts';

/** The answer of a JSON route, which has status 200 even for a failure. */
export async function attempt(sandbox: Sandbox, verb: string, body: object): Promise<EnvelopeBody> {
  const reply = await sandbox.request(`POST /v1/file/${verb}`, body, { 'content-type': 'application/json' });
  if (reply.status !== 200) throw new Error(`${verb}: ${reply.status} ${JSON.stringify(reply.body)}`);
  expect(Object.keys(reply.body).toSorted()).toEqual(['data', 'hint', 'message', 'success']);
  return reply.body;
}

/** The data of a success. */
export async function post(sandbox: Sandbox, verb: string, body: object): Promise<JsonObject> {
  const { success, message, data } = await attempt(sandbox, verb, body);
  expect([verb, success, message]).toEqual([verb, true, 'Operation successful']);
  return data;
}

/** The `FileOperationError` of a failure. */
export async function failed(sandbox: Sandbox, verb: string, body: object): Promise<JsonObject> {
  const { success, message, data } = await attempt(sandbox, verb, body);
  expect([verb, success, data['message']]).toEqual([verb, false, message]);
  return data;
}

export type UploadAnswer = EnvelopeBody & { readonly status: number };

export async function uploadForm(sandbox: Sandbox, parts: readonly Part[]): Promise<UploadAnswer> {
  return uploadBody(sandbox, form(parts), formType);
}

/** Sends the body as bytes with a Content-Length. */
export async function uploadBody(sandbox: Sandbox, body: Uint8Array, type: string): Promise<UploadAnswer> {
  const response = await sandbox.fetch('POST /v1/file/upload', undefined, {
    body: body as Uint8Array<ArrayBuffer>,
    headers: { 'content-type': type },
  });
  return { ...((await response.json()) as EnvelopeBody), status: response.status };
}

export const pathPart = (path: string): Part => ({ name: 'path', content: path });

/** The directory of uploads whose path follows the content. The directory itself stays. */
export function uploadsOf(sandbox: Sandbox, uid = process.getuid?.() ?? 0): string {
  return join(sandbox.directory, `tmp/uploads-${uid}`);
}
