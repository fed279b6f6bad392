/** A downloaded archive can be uploaded again, and refusals use names that the client knows. */
import { chmodSync, lstatSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { archive, pax } from '../harness/archive.ts';
import { expect, test } from '../harness/sandbox.ts';
import { get, listing, notesOf, partsIn, put } from '../harness/trees.ts';

test('FILE-14 FILE-15 an archive with links out of the tree round-trips with links=keep, and no link is followed', async ({
  sandbox,
}) => {
  const at = (name: string) => join(sandbox.directory, name);
  mkdirSync(at('top/inner'), { recursive: true });
  writeFileSync(at('outside'), 'old');
  writeFileSync(at('top/script'), 'x');
  chmodSync(at('top/script'), 0o6755);
  chmodSync(at('top/inner'), 0o2775);
  symlinkSync(at('outside'), at('top/absolute'));
  symlinkSync('../../outside', at('top/inner/relative'));
  const sent = await get(sandbox, at('top'));

  const refused = await put(sandbox, at('out'), sent);
  expect([refused.status, refused.body.message]).toEqual([
    400,
    `member "absolute": is a link to "${at('outside')}", which is outside the destination`,
  ]);
  expect(refused.body.hint).toContain('links=keep');
  expect((await put(sandbox, at('out'), sent, {}, '&links=keep')).body.data).toMatchObject({ entries: 4 });
  expect(readlinkSync(at('out/absolute'))).toBe(at('outside'));
  expect(readlinkSync(at('out/inner/relative'))).toBe('../../outside');
  expect(lstatSync(at('out/script')).mode & 0o7777).toBe(0o755);
  // The copy has no set-ID bits that its archive would have to name.
  const members = sent.subarray(0, sent.indexOf('pax_global_header'));
  expect(await get(sandbox, at('out'))).toEqual(Buffer.concat([members, Buffer.alloc(1024)]));

  const through = archive([{ name: 'absolute', content: 'new' }]);
  expect((await put(sandbox, at('out'), through, {}, '&links=keep')).status).toBe(200);
  expect(readFileSync(at('outside'), 'utf8')).toBe('old');
  expect(readFileSync(at('out/absolute'), 'utf8')).toBe('new');
  const below = archive([
    { name: 'link', flag: '2', target: '..' },
    { name: 'link/file', content: 'x' },
  ]);
  expect((await put(sandbox, at('out'), below, {}, '&links=keep')).status).toBe(400);
});

test('FILE-15 an empty archive is accepted with 0 entries', async ({ sandbox }) => {
  const out = join(sandbox.directory, 'out');
  const empty = { entries: 0, bytes: 0 };
  for (const body of [Buffer.alloc(0), Buffer.alloc(1024), Buffer.alloc(10_240), gzipSync(Buffer.alloc(1024))]) {
    const { status, body: answer } = await put(sandbox, out, body);
    expect([body.length, status, answer.data]).toEqual([body.length, 200, expect.objectContaining(empty)]);
    expect(answer.hint).toBe('The archive has no entries, so nothing was unpacked.');
  }
  expect(Object.keys(listing(out))).toEqual(['']);
});

test('FILE-15 FERR-1 a refused archive names the requested path, and the member that cannot be created', async ({
  sandbox,
}) => {
  const out = join(sandbox.directory, 'out');
  const long = 'n'.repeat(256);
  for (const name of [long, `a/${long}/b`]) {
    const body = Buffer.concat([pax({ path: name }), archive([{ name: 'x', content: 'x' }])]);
    const refused = await put(sandbox, out, body);
    const path = `${out}/${name}`;
    expect([refused.status, refused.body.message]).toEqual([400, `${path}: File name too long`]);
    expect(refused.body.data).toMatchObject({ path, errno_name: 'ENAMETOOLONG', error_type: 'invalid_path' });
  }
  writeFileSync(join(sandbox.directory, 'file'), '');
  const below = await put(sandbox, join(sandbox.directory, 'file/out'), archive([{ name: 'x', content: 'x' }]));
  expect([below.status, below.body.data['path']]).toEqual([400, join(sandbox.directory, 'file')]);
  expect([partsIn(sandbox.directory), notesOf(sandbox)]).toEqual([[], []]);
});
