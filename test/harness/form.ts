/** Builds multipart uploads by hand, so that they can be malformed. */
import type { EnvelopeBody, Reply, Sandbox } from './sandbox.ts';

export interface Part {
  readonly name: string;
  readonly content: string | Uint8Array;
  readonly fileName?: string;
}

export const boundary = 'the-boundary';
export const formType = `multipart/form-data; boundary=${boundary}`;

export function form(parts: readonly Part[], end = `--${boundary}--\r\n`): Buffer {
  const pieces = parts.flatMap(({ name, content, fileName }) => {
    const file = fileName === undefined ? '' : `; filename="${fileName}"\r\nContent-Type: application/octet-stream`;
    return [`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`, content, '\r\n'];
  });
  return Buffer.concat([...pieces, end].map((piece) => Buffer.from(piece)));
}

/** `path` is the query of the route. */
export async function send(sandbox: Sandbox, body: Uint8Array, type: string, path = ''): Promise<Reply<EnvelopeBody>> {
  const response = await sandbox.fetch(`POST /v2/fs/upload${path}`, undefined, {
    body: body as Uint8Array<ArrayBuffer>,
    headers: { 'content-type': type },
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as EnvelopeBody };
}

export const sendForm = (sandbox: Sandbox, parts: readonly Part[], path = '') =>
  send(sandbox, form(parts), formType, path);
