/** Archives of trees that cannot be read completely: a failure status, or a record in the archive with the cause. */
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { asTestAccount } from '../harness/test-account.ts';
import { put, query } from '../harness/trees.ts';

/** The bytes that arrive, and whether the answer is complete. */
function download(sandbox: Sandbox, path: string): Promise<{ status: number; isWhole: boolean; bytes: Buffer }> {
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<typeof download>>>();
  const asked = request(`${sandbox.url}${path}`, { agent: false }, (response) => {
    const pieces: Buffer[] = [];
    response.on('data', (piece: Buffer) => pieces.push(piece));
    asked.off('error', reject).on('error', () => undefined); // `complete` reports the break once the response closes.
    response.on('error', () => undefined);
    response.on('close', () => {
      const { statusCode: status = 0, complete: isWhole } = response;
      resolve({ status, isWhole, bytes: Buffer.concat(pieces) });
    });
  });
  asked.on('error', reject);
  asked.end();
  return promise;
}

/** A directory with this many bytes in front of a directory that only root may read. */
function makeClosed(top: string, bytes: number): string {
  const closed = join(top, 'b-closed');
  mkdirSync(closed, { recursive: true });
  writeFileSync(join(top, 'a-file'), Buffer.alloc(bytes, 'a'));
  writeFileSync(join(top, 'c-file'), 'behind it');
  chmodSync(closed, 0);
  return closed;
}

test(
  'FILE-14 FERR-1 a tree whose start cannot be read is a failure with its status, and names the path',
  async ({ sandbox }) => {
    const top = join(sandbox.directory, 'top');
    const closed = makeClosed(top, 1000);
    for (const [path, format] of [
      [closed, 'tar'],
      [top, 'tar'],
      [top, 'tar.gz'],
    ] as const) {
      const { status, body } = await sandbox.request(`GET /v2/fs/tree?${query(path)}&format=${format}`);
      expect([path, format, status, body.message]).toEqual([path, format, 403, `${closed}: Permission denied`]);
      expect(body.data).toMatchObject({ error_type: 'permission_denied', operation: 'tree', path: closed });
    }
    expect(await sandbox.ok('GET /v2/sandbox')).toBeObject(); // No stream is left open; the harness counts descriptors.
  },
  asTestAccount(),
);

test(
  'FILE-14 a tree that fails later stops, its last record names the path, and no tar accepts the archive',
  async ({ sandbox }) => {
    const top = join(sandbox.directory, 'top');
    const closed = makeClosed(top, 3_000_000);
    const reason = `SVC.error=${closed}: Permission denied\n`;
    const decoders = { tar: (bytes: Buffer) => bytes, 'tar.gz': gunzipSync, 'tar.zst': zstdDecompressSync };
    for (const [format, decode] of Object.entries(decoders)) {
      const { status, isWhole, bytes } = await download(sandbox, `/v2/fs/tree?${query(top)}&format=${format}`);
      expect([format, status, isWhole]).toEqual([format, 200, false]);
      const archive = decode(bytes);
      expect(archive.subarray(-1024).toString()).toContain(reason);
      expect(archive.includes('behind it')).toBe(false);

      const out = join(sandbox.directory, 'out');
      const refused = await put(sandbox, out, archive);
      expect([refused.status, refused.body.message]).toEqual([
        400,
        `the archive ends early: ${closed}: Permission denied`,
      ]);
      expect(Bun.spawnSync(['tar', '-tf', '-'], { stdin: archive, stderr: 'ignore' }).exitCode).not.toBe(0);
    }
    expect(existsSync(join(sandbox.directory, 'out'))).toBe(false);
    const logged = sandbox.logLines().filter((line) => line['broken_off'] !== undefined);
    expect(logged.map((line) => line['broken_off'])).toEqual(Array(3).fill(`${closed}: Permission denied`));
  },
  asTestAccount(),
);

/** sysfs reports 4096 bytes for the speed of the loopback device, and fails to read it. */
const withUnreadable = {
  launcher: [
    ...['unshare', '--mount', 'sh', '-c'],
    'mkdir top && touch top/b-file && mount --bind /sys/class/net/lo/speed top/b-file && exec "$@"',
    'sh',
  ],
};

test(
  'FILE-14 a small file whose content cannot be read ends the archive with its path, and is no member of it',
  async ({ sandbox }) => {
    const top = join(sandbox.directory, 'top');
    writeFileSync(join(top, 'a-file'), Buffer.alloc(3_000_000, 'a'));
    const { status, isWhole, bytes } = await download(sandbox, `/v2/fs/tree?${query(top)}&format=tar`);
    expect([status, isWhole]).toEqual([200, false]);
    expect(bytes.subarray(-1024).toString()).toContain(`SVC.error=${top}/b-file: Invalid argument\n`);
    expect(bytes.includes('./b-file')).toBe(false);
  },
  withUnreadable,
);
