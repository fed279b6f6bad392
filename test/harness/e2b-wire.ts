/** Requests of the protocol of E2B as they are on the wire. */
import { urlOf } from './e2b.ts';
import type { JsonObject, Sandbox } from './sandbox.ts';

/** One message of a stream in its envelope. */
export function enveloped(message: object): Uint8Array<ArrayBuffer> {
  const data = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(data.length, 1);
  return Buffer.concat([head, data]);
}

type Message = readonly [flags: number, message: JsonObject];

/** The messages of an answer, with the flags of each. */
export function messagesIn(bytes: Buffer): Message[] {
  const messages: Message[] = [];
  for (let [at, end] = [0, 0]; at < bytes.length; at = end) {
    end = at + 5 + bytes.readUInt32BE(at + 1);
    messages.push([bytes[at] ?? 0, JSON.parse(bytes.subarray(at + 5, end).toString()) as JsonObject]);
  }
  return messages;
}

export const call = (sandbox: Sandbox, method: string, body: string | Uint8Array<ArrayBuffer>, headers: object = {}) =>
  fetch(`${urlOf(sandbox)}/process.Process/${method}`, {
    method: 'POST',
    body,
    keepalive: false,
    headers: { 'content-type': 'application/json', ...headers },
  });

export async function stream(sandbox: Sandbox, method: string, message: object, headers: object = {}) {
  const type = { 'content-type': 'application/connect+json', ...headers };
  const answer = await call(sandbox, method, enveloped(message), type);
  return messagesIn(Buffer.from(await answer.arrayBuffer()));
}

export const outputOf = (messages: readonly Message[]) =>
  messages.map(([, { event }]) => atob(event?.data?.stdout ?? '')).join('');

export const shell = (script: string, more: object = {}) => ({
  process: { cmd: '/bin/sh', args: ['-c', script] },
  ...more,
});
