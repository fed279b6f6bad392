/** Links of other accounts: a read follows them, and no write of the daemon does. */
import { chmodSync, chownSync, lchownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '../harness/sandbox.ts';
import { testAccount } from '../harness/test-account.ts';
import { query } from '../harness/trees.ts';

test('V2FS-READLINKS a read follows the links of any account, and a copy does not give their target to that account', async ({
  sandbox,
}) => {
  const at = (name: string) => join(sandbox.directory, name);
  const { uid, gid } = testAccount;
  for (const name of ['home', 'ours']) mkdirSync(at(name));
  writeFileSync(at('ours/secret'), 'secret');
  chmodSync(at('ours/secret'), 0o600);
  chmodSync(at('ours'), 0o700);
  chownSync(at('home'), uid, gid);
  for (const [target, name] of [
    ['../ours/secret', 'home/file'],
    ['../ours', 'home/directory'],
  ] as const) {
    symlinkSync(target, at(name));
    lchownSync(at(name), uid, gid);
  }
  for (const path of [at('home/file'), at('home/directory/secret')]) {
    expect(await sandbox.ok(`GET /v2/fs/read?${query(path)}`)).toMatchObject({ content: 'secret' });
    expect(await (await sandbox.fetch(`GET /v2/fs/download?${query(path)}`)).text()).toBe('secret');
    expect(await sandbox.ok(`GET /v2/fs/stat?${query(path)}`)).toMatchObject({ size: 6 });
    expect(await sandbox.ok('POST /v1/file/read', { file: path })).toMatchObject({ content: 'secret' });
    const copied = await sandbox.request('POST /v2/fs/copy', { source: path, destination: at('home/copy') });
    expect([path, copied.status, copied.body.data['error_type']]).toEqual([path, 403, 'permission_denied']);
    expect((await sandbox.request('POST /v2/fs/write', { path, content: 'x' })).status).toBe(403);
  }
  const listed = await sandbox.ok(`GET /v2/fs/list?${query(at('home/directory'))}`);
  expect(listed).toMatchObject({ files: [{ name: 'secret' }] });
  const found = await sandbox.ok('POST /v2/fs/grep', { path: at('home/directory'), pattern: 'secret' });
  expect(found).toMatchObject({ match_count: 1 });
});
