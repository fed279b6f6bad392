/**
 * Measures envd by its address, as its default account.
 *
 * It uses `process.Process/Start` as a server stream of Connect with JSON.
 */
import { addressed } from './addressed.ts';
import { transferOf } from './files.ts';
import type { FileTransfer, Peer } from './peer.ts';

/** Each message begins with one byte of flags and its length. */
const prefixBytes = 5;
const isLastMessage = 0x02;

interface Message {
  readonly event?: {
    readonly data?: { readonly stdout?: string };
    /** This JSON omits zero values. */
    readonly end?: { readonly exitCode?: number; readonly exited?: boolean };
  };
  readonly error?: { readonly message?: string };
}

export function envd(name: string, url: string): Peer {
  return addressed(name, url, { healthPath: '/health', run, follow, files });
}

function files(url: string): FileTransfer {
  const at = (path: string) => `${url}/files?path=${encodeURIComponent(path)}`;
  return transferOf({
    downloadUrl: at,
    upload(path, content) {
      const form = new FormData();
      form.append('file', content);
      return fetch(at(path), { method: 'POST', body: form });
    },
  });
}

async function run(url: string, script: string): Promise<number> {
  let exitCode = -1;
  for await (const { event } of start(url, script)) {
    if (event?.end?.exited) exitCode = event.end.exitCode ?? 0;
  }
  return exitCode;
}

async function* follow(url: string, script: string): AsyncGenerator<number> {
  for await (const { event } of start(url, script)) {
    if (event?.data?.stdout) yield Buffer.from(event.data.stdout, 'base64').length;
  }
}

async function* start(url: string, script: string): AsyncGenerator<Message> {
  const request = { process: { cmd: '/bin/sh', args: ['-c', script] }, stdin: false };
  const response = await fetch(`${url}/process.Process/Start`, {
    method: 'POST',
    headers: {
      'content-type': 'application/connect+json',
      'connect-protocol-version': '1',
    },
    body: enveloped(JSON.stringify(request)),
  });
  if (!response.ok || response.body === null) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  for await (const { flags, text } of messages(response.body)) {
    const message = JSON.parse(text) as Message;
    if (message.error) throw new Error(`${url}: ${message.error.message}`);
    if ((flags & isLastMessage) === 0) yield message;
  }
}

function enveloped(text: string): Buffer {
  const bytes = Buffer.from(text);
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([prefix, bytes]);
}

async function* messages(body: ReadableStream<Uint8Array>): AsyncGenerator<{ flags: number; text: string }> {
  let rest = Buffer.alloc(0);
  for await (const piece of body) {
    rest = rest.length === 0 ? Buffer.from(piece) : Buffer.concat([rest, piece]);
    while (rest.length >= prefixBytes) {
      const end = prefixBytes + rest.readUInt32BE(1);
      if (rest.length < end) break;
      yield { flags: rest.readUInt8(0), text: rest.toString('utf8', prefixBytes, end) };
      rest = rest.subarray(end);
    }
  }
}
