/** Uploads and downloads trees as archives, and lists them byte for byte. */
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type EnvelopeBody, type Reply, type Sandbox } from './sandbox.ts';

export const query = (path: string) => `path=${encodeURIComponent(path)}`;

export async function put(
  sandbox: Sandbox,
  path: string,
  body: Uint8Array,
  headers: Record<string, string> = {},
  more = '',
): Promise<Reply<EnvelopeBody>> {
  const response = await sandbox.fetch(`PUT /v2/fs/tree?${query(path)}${more}`, undefined, {
    body: body as Uint8Array<ArrayBuffer>,
    headers: { 'content-type': 'application/x-tar', ...headers },
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as EnvelopeBody };
}

export async function get(sandbox: Sandbox, path: string, more = ''): Promise<Buffer> {
  const response = await sandbox.fetch(`GET /v2/fs/tree?${query(path)}${more}`);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

/** Everything below a directory that an archive carries, with names in hexadecimal. */
export function listing(directory: string | Buffer): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  const walk = (at: Buffer, name: string): void => {
    const stat = lstatSync(at);
    const common = { mode: stat.mode & 0o7777, seconds: Math.floor(stat.mtimeMs / 1000) };
    if (stat.isSymbolicLink()) found[name] = { link: readlinkSync(at, 'buffer').toString('hex') };
    else if (stat.isDirectory()) {
      found[name] = { ...common, directory: true };
      for (const inner of readdirSync(at, { encoding: 'buffer' })) {
        walk(Buffer.concat([at, Buffer.from('/'), inner]), `${name}/${inner.toString('hex')}`);
      }
    } else found[name] = { ...common, links: stat.nlink, content: readFileSync(at).toString('hex') };
  };
  walk(Buffer.from(directory as Buffer), '');
  return found;
}

/** All metadata and content that an account must not change. The change times reveal every modification. */
export function touchesOf(path: string): string[] {
  const { uid, gid, mode, size, mtimeNs, ctimeNs, nlink } = lstatSync(path, { bigint: true });
  const line = [path, uid, gid, mode.toString(8), size, nlink, mtimeNs, ctimeNs].join(' ');
  if (!lstatSync(path).isDirectory()) return [`${line} ${readFileSync(path, 'utf8')}`];
  return [
    line,
    ...readdirSync(path)
      .toSorted()
      .flatMap((name) => touchesOf(join(path, name))),
  ];
}

export function partsIn(directory: string): string[] {
  return readdirSync(directory).filter((name) => name.endsWith('.part'));
}

export function notesOf(sandbox: Sandbox): string[] {
  const notes = join(sandbox.runtimeDirectory, 'parts');
  return existsSync(notes) ? readdirSync(notes) : [];
}
