/** The exact status, message and hint for each bad archive, none of which is unpacked. */
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { archive, member, pax, type Entry } from '../harness/archive.ts';
import { expect, test } from '../harness/sandbox.ts';
import { notesOf, partsIn, put } from '../harness/trees.ts';

const file = { name: 'a/file', content: 'x' };
const link = (name: string, target: string) => ({ name, target, flag: '2' });
const stay = 'Links must be relative and stay inside the archive. links=keep keeps each link as it is.';
const inside = 'Create the archive with names below the packed directory, as tar -C directory -c . does.';
const without = 'Create the archive without this member.';
const whole = 'Send a complete tar archive, as tar -c writes it.';

interface Bad {
  readonly what: string;
  readonly body: readonly Entry[] | Uint8Array;
  readonly message: string;
  readonly hint: string;
  readonly status?: number;
  readonly headers?: Record<string, string>;
}

const zeros = Buffer.alloc(1024);
const sameDirectory = member({ name: 'd/', flag: '5' });

/** Bodies of other formats, by their first bytes; 600 more follow, as many as a tar header has. */
const otherFormats = (
  [
    ['\xfd7zXZ\0', 'xz data', 'xz -dc'],
    ['BZh91AY', 'bzip2 data', 'bzip2 -dc'],
    ['\x04\x22\x4d\x18', 'LZ4 data', 'lz4 -dc'],
    ['\x5d\0\0\x80', 'LZMA data', 'xz --format=lzma -dc'],
    ['PK\x03\x04', 'a zip archive', 'unzip'],
    ["7z\xbc\xaf'\x1c", 'a 7z archive', '7z x'],
    ['Rar!\x1a\x07\x01\0', 'a RAR archive', 'unrar x'],
    ['!<arch>\n', 'an ar archive', 'ar x'],
    ['<!DOCTYPE html>\n<title>404</title>', 'an HTML page', null],
    ['\n <HTML><body>', 'an HTML page', null],
    ['{"message":"Not Found"}', 'JSON', null],
  ] as const
).flatMap(([start, name, program]) =>
  [Buffer.from(start, 'latin1'), Buffer.concat([Buffer.from(start, 'latin1'), Buffer.alloc(600, 7)])].map((body) => ({
    what: `${name}, ${body.length} bytes`,
    body,
    message: `the body is ${name}, not a tar archive`,
    hint:
      program === null
        ? 'Check the address that the archive comes from, and send a tar archive.'
        : program.endsWith('-dc')
          ? `Send what \`${program}\` writes, as it is or compressed with gzip or zstd.`
          : `Upload the file and unpack it there with ${program}, or send a tar archive. POST /v2/commands starts a command.`,
  })),
);

const bad: readonly Bad[] = [
  ...otherFormats,
  {
    what: 'an archive that was compressed twice',
    body: gzipSync(gzipSync(archive([file]))),
    message: 'the body is gzip data inside of the compressed body, not a tar archive',
    hint: 'Compress the tar archive once.',
  },
  { what: '..', body: [file, { name: '../x' }], message: 'member "../x": "../x" contains ..', hint: inside },
  {
    what: '.. in the middle',
    body: [{ name: 'a/../../x' }],
    message: 'member "a/../../x": "a/../../x" contains ..',
    hint: inside,
  },
  {
    what: 'an absolute name',
    body: [{ name: '/etc/x' }],
    message: 'member "/etc/x": "/etc/x" is absolute',
    hint: inside,
  },
  {
    what: 'an absolute name of pax',
    body: Buffer.concat([pax({ path: '/etc/x' }), member({ name: 'x' }), zeros]),
    message: 'member "/etc/x": "/etc/x" is absolute',
    hint: inside,
  },
  {
    what: 'a NUL in a name of pax',
    body: Buffer.concat([pax({ path: 'a\0b' }), member({ name: 'x' }), zeros]),
    message: 'member "a\\u0000b": has a NUL byte in its name',
    hint: without,
  },
  {
    what: 'a long name of GNU that leads out',
    body: Buffer.concat([
      member({ name: '././@LongLink', flag: 'L', content: `${'../'.repeat(40)}x\0` }),
      member({ name: 'x' }),
      zeros,
    ]),
    message: `member "${'../'.repeat(40)}x": "${'../'.repeat(40)}x" contains ..`,
    hint: inside,
  },
  {
    what: 'an absolute link',
    body: [link('l', '/etc')],
    message: 'member "l": is a link to "/etc", which is outside the destination',
    hint: stay,
  },
  {
    what: 'a link out',
    body: [link('a/l', '../../x')],
    message: 'member "a/l": is a link to "../../x", which is outside the destination',
    hint: stay,
  },
  {
    what: 'a link out through a link that comes later',
    body: [link('a/b/out', 'up/../..'), link('a/b/up', '../..')],
    message: 'member "a/b/out": is a link to "up/../..", which is outside the destination',
    hint: stay,
  },
  {
    what: 'a link without a target',
    body: [link('l', '')],
    message: 'member "l": is a symbolic link without a target',
    hint: without,
  },
  {
    what: 'a file below a link',
    body: [link('l', 'a'), { name: 'l/x' }],
    message: 'member "l/x": is below "l", which is not a directory',
    hint: without,
  },
  {
    what: 'a file below a file',
    body: [file, { name: 'a/file/x' }],
    message: 'member "a/file/x": is below "a/file", which is not a directory',
    hint: without,
  },
  {
    what: 'a directory that becomes a link',
    body: [file, link('a', 'b')],
    message: 'member "a": appears twice',
    hint: 'Create the archive again, with each name once.',
  },
  {
    what: 'a name twice',
    body: [file, { name: './a//file' }],
    message: 'member "./a//file": appears twice',
    hint: 'Create the archive again, with each name once.',
  },
  {
    what: 'a hard link to nothing',
    body: [{ name: 'h', flag: '1', target: 'absent' }],
    message: 'member "h": is a hard link to "absent", which is not an earlier file',
    hint: without,
  },
  {
    what: 'a hard link out',
    body: [{ name: 'h', flag: '1', target: '../../etc/passwd' }],
    message: 'member "h": "../../etc/passwd" contains ..',
    hint: inside,
  },
  {
    what: 'a hard link to a link',
    body: [link('l', 'x'), { name: 'h', flag: '1', target: 'l' }],
    message: 'member "h": is a hard link to "l", which is not an earlier file',
    hint: without,
  },
  { what: 'a character device', body: [{ name: 'd', flag: '3' }], message: 'member "d": is a device', hint: without },
  { what: 'a block device', body: [{ name: 'd', flag: '4' }], message: 'member "d": is a device', hint: without },
  { what: 'a pipe', body: [{ name: 'p', flag: '6' }], message: 'member "p": is a pipe', hint: without },
  {
    what: 'an unknown kind',
    body: [{ name: 'u', flag: 'Z' }],
    message: 'member "u": is of an unsupported type ("Z")',
    hint: without,
  },
  {
    what: 'a sparse file',
    body: [{ name: 's', flag: 'S' }],
    message: 'member "s": is a sparse file',
    hint: 'Create the archive without --sparse.',
  },
  {
    what: 'a sparse file of pax',
    body: Buffer.concat([pax({ 'GNU.sparse.major': '1' }), member({ name: 's' }), zeros]),
    message: 'member "s": is a sparse file',
    hint: 'Create the archive without --sparse.',
  },
  {
    what: 'a set-user-id bit',
    body: [{ name: 's', mode: 0o4755 }],
    message: 'member "s": has a set-user-id or set-group-id bit',
    hint: 'Remove the bit with chmod ug-s.',
  },
  {
    what: 'a set-group-id bit',
    body: [{ name: 's/', flag: '5', mode: 0o2755 }],
    message: 'member "s/": has a set-user-id or set-group-id bit',
    hint: 'Remove the bit with chmod ug-s.',
  },
  {
    what: 'a file without a name',
    body: [{ name: './', flag: '2', target: 'a' }],
    message: 'member "./": has no name',
    hint: inside,
  },
  {
    what: 'a directory with a content',
    body: [{ name: 'd', flag: '5', content: 'x' }],
    message: 'member "d": has content but is not a file',
    hint: without,
  },
  {
    what: 'a cut header',
    body: archive([file]).subarray(0, 300),
    message: 'the body is not a tar archive: it ends within the first header',
    hint: whole,
  },
  {
    what: 'a cut content',
    body: archive([{ name: 'x', content: 'x'.repeat(5000) }]).subarray(0, 2000),
    message: 'the archive ends in the middle',
    hint: whole,
  },
  { what: 'no end', body: member(file), message: 'the archive ends in the middle', hint: whole },
  {
    what: 'bytes after the end',
    body: Buffer.concat([archive([file]), Buffer.from('more')]),
    message: 'the archive has data after its end',
    hint: whole,
  },
  {
    what: 'a damaged header',
    body: Buffer.concat([member(file), Buffer.alloc(512, 'x'), zeros]),
    message: 'the archive is damaged',
    hint: whole,
  },
  { what: 'no archive', body: Buffer.alloc(2000, 'text '), message: 'the body is not a tar archive', hint: whole },
  {
    what: 'a damaged pax header',
    body: Buffer.concat([member({ name: 'PaxHeader', flag: 'x', content: '99 path=x\n' }), member(file), zeros]),
    message: 'member "PaxHeader": its pax header is damaged',
    hint: whole,
  },
  {
    what: 'a cut gzip stream',
    body: gzipSync(archive([{ name: 'x', content: Buffer.alloc(100_000, 'abc') }])).subarray(0, 100),
    message: 'the body is not a whole gzip stream',
    hint: 'Send it as it is, or compressed with gzip or zstd, to the end.',
  },
  {
    what: 'a cut zstd stream',
    body: zstdCompressSync(archive([{ name: 'x', content: crypto.getRandomValues(new Uint8Array(60_000)) }])).subarray(
      0,
      30_000,
    ),
    message: 'the body is not a whole zstd stream',
    hint: 'Send it as it is, or compressed with gzip or zstd, to the end.',
  },
  {
    what: 'a coding other than the declared one',
    body: archive([file]),
    headers: { 'content-encoding': 'gzip' },
    message: 'the body is not a whole gzip stream',
    hint: 'Send it as it is, or compressed with gzip or zstd, to the end.',
  },
  {
    what: 'an unknown coding',
    body: archive([file]),
    headers: { 'content-encoding': 'br' },
    status: 415,
    message: 'a body with the content encoding "br" is not read here',
    hint: 'Send it as it is, or compressed with gzip or zstd.',
  },
  {
    what: 'too many members',
    // Always the same directory, because a hundred thousand files take long to write and to remove.
    body: gzipSync(Buffer.concat([...Array.from({ length: 100_001 }, () => sameDirectory), archive([])])),
    status: 413,
    message: 'the archive has more than 100000 members',
    hint: 'Send it in several archives.',
  },
];

for (const place of ['nothing', 'a directory'] as const) {
  test(`FILE-15 FERR-1 a bad archive gets its exact answer where there is ${place}, and none of it is unpacked`, async ({
    sandbox,
  }) => {
    const out = join(sandbox.directory, place === 'nothing' ? 'not/there' : 'out');
    if (place === 'a directory') mkdirSync(out);
    for (const { what, body, message, hint, status = 400, headers = {} } of bad) {
      const reply = await put(sandbox, out, body instanceof Uint8Array ? body : archive(body), headers);
      expect({ what, status: reply.status, message: reply.body.message, hint: reply.body.hint }).toEqual({
        what,
        status,
        message,
        hint,
      });
      if (hint.includes('gzip')) continue; // The failure belongs to the body, not to a file.
      const [errno_name, error_type] = status === 413 ? ['EFBIG', 'too_large'] : ['EINVAL', 'bad_request'];
      expect(reply.body.data).toMatchObject({ errno_name, error_type, operation: 'tree', path: out, retryable: false });
    }
    expect([existsSync(out), readdirSync(sandbox.directory).toSorted()]).toEqual([
      place === 'a directory',
      ['runtime', 'tmp', ...(place === 'a directory' ? ['out'] : [])].toSorted(),
    ]);
    if (place === 'a directory') expect(readdirSync(out)).toEqual([]);
    expect(notesOf(sandbox)).toEqual([]);
  });
}

test('FILE-15 a destination that cannot hold the tree stays unchanged', async ({ sandbox }) => {
  const out = join(sandbox.directory, 'out');
  mkdirSync(join(out, 'directory'), { recursive: true });
  writeFileSync(join(out, 'file'), 'mine');
  symlinkSync('/etc', join(out, 'link'));
  for (const [path, entries, status, message] of [
    [join(out, 'file'), [file], 409, `${out}/file: exists and is not a directory`],
    [out, [{ name: 'new' }, { name: 'file/x' }], 409, `${out}/file: is a file, where the archive has a directory`],
    [out, [{ name: 'new' }, { name: 'link/x' }], 409, `${out}/link: is a link, where the archive has a directory`],
    [
      out,
      [{ name: 'new' }, { name: 'directory' }],
      409,
      `${out}/directory: is a directory, where the archive has none`,
    ],
    [`${out}/file/below`, [file], 400, `${out}/file: Not a directory`],
    [out, [{ name: 'n'.repeat(100) + 'n'.repeat(200) }], 200, 'Operation successful'],
  ] as const) {
    const reply = await put(sandbox, path, archive(entries));
    expect([reply.status, reply.body.message]).toEqual([status, message]);
    if (status === 409) expect(reply.body.data).toMatchObject({ error_type: 'already_exists', errno_name: 'EEXIST' });
    if (status !== 200) expect(readdirSync(out).toSorted()).toEqual(['directory', 'file', 'link']);
  }
  expect(existsSync('/etc/x')).toBe(false);
});

test('FILE-15 an archive bomb is stopped at 4 GiB, whatever its compressed size', async ({ sandbox }) => {
  const out = join(sandbox.directory, 'out');
  const sized = zstdCompressSync(member({ name: 'zeros', size: 5 * 1024 ** 3 }));
  const frame = zstdCompressSync(Buffer.alloc(64 * 1024 * 1024));
  const endsInNothing = [zstdCompressSync(archive([file])), ...Array.from({ length: 66 }, () => frame)];
  for (const body of [sized, Buffer.concat(endsInNothing)]) {
    expect(body.length).toBeLessThan(1_000_000);
    const { status, body: answer } = await put(sandbox, out, body);
    expect([status, answer.message]).toEqual([413, 'the archive has more than 4294967296 bytes']);
    expect(answer.data).toMatchObject({ errno_name: 'EFBIG', error_type: 'too_large', operation: 'tree', path: out });
    expect([existsSync(out), partsIn(sandbox.directory)]).toEqual([false, []]);
  }
});
