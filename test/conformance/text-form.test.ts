/** Edits keep the encoding, the line ends and the final newline of a file, on every surface. */
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { callTool } from '../harness/mcp-client.ts';
import { expect, test, type Json, type Sandbox } from '../harness/sandbox.ts';

type Form = 'utf-8' | 'utf-8 with a mark' | 'utf-16le' | 'utf-16be';
const forms = ['utf-8', 'utf-8 with a mark', 'utf-16le', 'utf-16be'] as const satisfies Form[];

function encoded(text: string, form: Form): Buffer<ArrayBuffer> {
  if (form === 'utf-8') return Buffer.from(text);
  if (form === 'utf-8 with a mark') return Buffer.from(`\ufeff${text}`);
  const bytes = Buffer.from(`\ufeff${text}`, 'utf16le');
  if (form === 'utf-16be') bytes.swap16();
  return bytes;
}

/** One edit, as each surface takes it. */
const surfaces = {
  async v2(sandbox: Sandbox, body: Json) {
    await sandbox.ok('POST /v2/fs/edit', body);
  },
  async 'a list of v2'(sandbox: Sandbox, { command, path, ...change }: Json) {
    const body = command === 'undo_edit' ? { path, command } : { path, edits: [change] };
    await sandbox.ok('POST /v2/fs/edit', body);
  },
  async v1(sandbox: Sandbox, body: Json) {
    const reply = await sandbox.request('POST /v1/file/str_replace_editor', body);
    expect([reply.body.success, reply.body.message]).toEqual([true, expect.any(String)]);
  },
  async mcp(sandbox: Sandbox, body: Json) {
    const reply = await callTool(sandbox, 'sandbox_str_replace_editor', body);
    expect([reply.isError, reply.text]).toEqual([false, expect.any(String)]);
  },
} as const;

const replace = (old_str: string, new_str: string, more: Json = {}) => ({
  command: 'str_replace',
  ...{ old_str, new_str, ...more },
});
const insert = (insert_line: number, new_str: string) => ({ command: 'insert', insert_line, new_str });

const edits: readonly (readonly [before: string, edit: Json, after: string])[] = [
  // An anchor with other line ends matches, and the new text takes those of the file.
  ['one\r\ntwo\r\n', replace('one\ntwo', 'x'), 'x\r\n'],
  ['one\r\ntwo\r\n', replace('one\ntwo\n', 'x\ny\n'), 'x\r\ny\r\n'],
  ['one\ntwo\n', replace('one\r\ntwo\r\n', 'x\r\ny\r\n'), 'x\ny\n'],
  ['one\rtwo\rthree', replace('one\ntwo\n', 'x\ny\nz\n'), 'x\ry\rz\rthree'],
  ['one\r\ntwo\r\n', replace('one', '1\n2'), '1\r\n2\r\ntwo\r\n'],
  ['one\ntwo\n', replace('one', '1\r\n2'), '1\n2\ntwo\n'],
  ['a\r\nb\r\na\r\nb', replace('a\nb', 'c\nd', { replace_mode: 'ALL' }), 'c\r\nd\r\nc\r\nd'],
  ['a\r\nb\r\na\r\nb', replace('a\nb', 'c', { replace_mode: 'LAST' }), 'a\r\nb\r\nc'],
  // A newline never splits a CRLF.
  ['one\r\ntwo', replace('\n', ' '), 'one two'],
  // In a mixed file, each line keeps its end, and a new line takes that of the line it stands in.
  ['a\r\nb\nc\r\n', replace('a\nb\nc', 'a\n2\nc'), 'a\r\n2\nc\r\n'],
  ['a\r\nb\nc\r\n', replace('a\r\nb\r\n', 'x\ny\nz\n'), 'x\r\ny\nz\nc\r\n'],
  ['a\r\nb\nc\r\nd', replace('c', 'x\ny'), 'a\r\nb\nx\r\ny\r\nd'],
  ['a\nb\r\na\r\nb\n', replace('a\nb', 'x\ny', { replace_mode: 'ALL' }), 'x\ny\r\nx\r\ny\n'],
  ['a\nb\r\na\r\nb\n', replace('b\n', 'y\n', { replace_mode: 'LAST' }), 'a\nb\r\na\r\ny\n'],
  ['a\r\nb\nc\r\n', insert(1, 'x\ny'), 'a\r\nx\r\ny\r\nb\nc\r\n'],
  ['a\r\nb\nc\r\n', insert(2, 'x'), 'a\r\nb\nx\nc\r\n'],
  // An edit may change the line ends themselves.
  ['a\r\nb\r\n', replace('\r\n', '\n', { replace_mode: 'ALL' }), 'a\nb\n'],
  ['a\nb\n', replace('a\n', 'a\r\n'), 'a\r\nb\n'],
  ['10 %\r20 %\ndone\n', replace('20 %\ndone', '30 %\nover'), '10 %\r30 %\nover\n'],
  // Inserted lines, and the final newline or its absence.
  ['a\r\nb\r\n', insert(0, 'x\ny'), 'x\r\ny\r\na\r\nb\r\n'],
  ['a\r\nb\r\n', insert(1, 'x'), 'a\r\nx\r\nb\r\n'],
  ['a\r\nb\r\n', insert(2, 'x'), 'a\r\nb\r\nx\r\n'],
  ['a\r\nb', insert(2, 'x'), 'a\r\nb\r\nx'],
  ['a\nb\n', insert(2, 'c'), 'a\nb\nc\n'],
  ['a\nb', insert(2, 'c\nd'), 'a\nb\nc\nd'],
  ['a\nb', insert(0, 'x'), 'x\na\nb'],
  ['a\rb\r', insert(1, 'x'), 'a\rx\rb\r'],
  ['a\rb', insert(2, 'x\ny'), 'a\rb\rx\ry'],
  ['one', insert(0, 'x'), 'x\none'],
];

for (const [surface, edit] of Object.entries(surfaces)) {
  test(`V2FS-FORM V1FILE-3 MCP-TOOLS every edit and its undo keep the form of the file, by ${surface}`, async ({
    sandbox,
  }) => {
    const path = `${sandbox.directory}/form.txt`;
    for (const form of forms) {
      for (const [before, body, after] of edits) {
        writeFileSync(path, encoded(before, form));
        await edit(sandbox, { path, ...body });
        expect({ form, before, body, after: readFileSync(path) }).toEqual({
          ...{ form, before, body },
          after: encoded(after, form),
        });
        await edit(sandbox, { path, command: 'undo_edit' });
        expect({ form, body, undone: readFileSync(path) }).toEqual({ form, body, undone: encoded(before, form) });
      }
    }
  });
}

test('V2FS-FORM V1FILE-4 MCP-TOOLS replacing on the other routes keeps the form of the file too', async ({
  sandbox,
}) => {
  const path = `${sandbox.directory}/form.txt`;
  for (const form of forms) {
    writeFileSync(path, encoded('a\r\nb\r\na\r\nb\r\n', form));
    const replaced = await sandbox.ok('POST /v1/file/replace', { file: path, old_str: 'a\nb', new_str: 'x\ny' });
    expect([replaced['replaced_count'], readFileSync(path)]).toEqual([2, encoded('x\r\ny\r\nx\r\ny\r\n', form)]);
    const tool = { action: 'replace', path, old_str: 'y\nx', new_str: 'y\n\nx' };
    expect((await callTool(sandbox, 'sandbox_file_operations', tool)).isError).toBe(false);
    expect(readFileSync(path)).toEqual(encoded('x\r\ny\r\n\r\nx\r\ny\r\n', form));
  }
});

test('V2FS-FORM an edit of the first line keeps the mark, with the mark in old_str and without', async ({
  sandbox,
}) => {
  const path = `${sandbox.directory}/marked.txt`;
  for (const form of ['utf-8 with a mark', 'utf-16le', 'utf-16be'] as const) {
    for (const old_str of ['\ufeffone', 'one']) {
      writeFileSync(path, encoded('one\ntwo\n', form));
      const edited = await sandbox.ok('POST /v2/fs/edit', { path, ...replace(old_str, '1') });
      expect(edited).toMatchObject({ old_content: '\ufeffone\ntwo\n', new_content: '\ufeff1\ntwo\n' });
      expect(readFileSync(path)).toEqual(encoded('1\ntwo\n', form));
    }
  }
});

test('V2FS-FORM the lines around an edit end where the file ends', async ({ sandbox }) => {
  const path = `${sandbox.directory}/numbered.txt`;
  for (const [content, line, output] of [
    ['a\nb\n', 2, '     1\ta\n     2\tb\n     3\tc'],
    ['a\r\n\r\n', 0, '     1\tc\n     2\ta\n     3\t'],
    ['a\rb', 1, '     1\ta\n     2\tc\n     3\tb'],
  ] as const) {
    writeFileSync(path, content);
    expect(await sandbox.ok('POST /v2/fs/edit', { path, ...insert(line, 'c') })).toMatchObject({ output });
  }
});

test('V2FS-FORM V1FILE-2 MCP-TOOLS appended text takes the encoding and the line ends of the file', async ({
  sandbox,
}) => {
  const path = `${sandbox.directory}/appended.txt`;
  const append = { content: 'c\nd', append: true };
  const appends: readonly ((body: Json) => Promise<unknown>)[] = [
    (body) => sandbox.ok('POST /v2/fs/write', { path, ...body }),
    (body) => sandbox.ok('POST /v1/file/write', { file: path, ...body }),
    (body) => callTool(sandbox, 'sandbox_file_operations', { action: 'write', path, ...body }),
  ];
  for (const each of appends) {
    for (const form of forms) {
      for (const [before, after] of [
        ['a\r\nb\r\n', 'a\r\nb\r\nc\r\nd'],
        ['a\nb', 'a\nbc\nd'],
        ['a\r\nb\n', 'a\r\nb\nc\nd'],
        ['', 'c\nd'],
      ] as const) {
        writeFileSync(path, encoded(before, form));
        await each(append);
        expect([form, before, readFileSync(path)]).toEqual([form, before, encoded(after, form)]);
      }
    }
  }
  writeFileSync(path, encoded('a\r\n', 'utf-16be'));
  const around = { content: 'b', append: true, leading_newline: true, trailing_newline: true };
  const written = await sandbox.ok('POST /v2/fs/write', { path, ...around });
  expect(readFileSync(path)).toEqual(encoded('a\r\n\r\nb\r\n', 'utf-16be'));
  expect(written).toMatchObject({ bytes_written: 10, size: 18 });

  // What the caller spells out is written as it is.
  for (const [body, after] of [
    [{ content: 'b\nc\r\n', append: true }, 'a\r\nb\nc\r\n'],
    [{ content: 'b\n', append: true, encoding: 'raw' }, 'a\r\nb\n'],
    [{ content: 'b\n' }, 'b\n'],
  ] as const) {
    writeFileSync(path, 'a\r\n');
    await sandbox.ok('POST /v2/fs/write', { path, ...body });
    expect(readFileSync(path, 'utf8')).toBe(after);
  }
});

test('V2FS-TEXT V1FILE-1 MCP-TOOLS every surface reads and searches the same encodings', async ({ sandbox }) => {
  const path = `${sandbox.directory}/encoded.txt`;
  for (const form of forms) {
    writeFileSync(path, encoded('one\nzwölf 👋\n', form));
    const mark = form === 'utf-8' ? '' : '\ufeff';
    const encoding = form.startsWith('utf-8') ? 'utf-8' : form;
    const content = `${mark}one\nzwölf 👋\n`;
    expect(await sandbox.ok(`GET /v2/fs/read?path=${path}`)).toMatchObject({ content, line_count: 2, encoding });
    expect(await sandbox.ok(`GET /v2/fs/read?path=${path}&start_line=1`)).toMatchObject({ content: 'zwölf 👋\n' });
    expect(await sandbox.ok('POST /v1/file/read', { file: path })).toMatchObject({ content, line_count: 2 });
    expect(await sandbox.ok('POST /v1/file/search', { file: path, regex: '^zw.lf' })).toMatchObject({
      line_numbers: [1],
      matches: ['zwölf 👋'],
    });
    for (const route of ['/v2/fs/grep', '/v1/file/grep']) {
      expect((await sandbox.ok(`POST ${route}`, { path, pattern: '^zw.lf' }))['matches']).toMatchObject([
        { line_number: 2, line_content: 'zwölf 👋' },
      ]);
    }
    const read = await callTool(sandbox, 'sandbox_file_operations', { action: 'read', path });
    expect(read.data['content']).toBe(content);
    const viewed = await callTool(sandbox, 'sandbox_str_replace_editor', { command: 'view', path, view_range: [2, 2] });
    expect(viewed.data['output']).toBe('     2\tzwölf 👋');
  }
});

test('V2FS-TEXT lines of a large UTF-16 file are read by their numbers', async ({ sandbox }) => {
  const path = `${sandbox.directory}/large.txt`;
  // Characters whose bytes look like a newline at the wrong place.
  const lines = Array.from({ length: 600_000 }, (_, i) => `${i} ਊ਀\u0100\u000a`).join('');
  for (const form of ['utf-16le', 'utf-16be'] as const) {
    writeFileSync(path, encoded(lines, form));
    truncateSync(path, 17 * 1024 ** 2 - 2);
    const at = (query: string) => sandbox.ok(`GET /v2/fs/read?path=${path}&${query}`);
    expect(await at('start_line=0&end_line=1')).toMatchObject({ content: '\ufeff0 ਊ਀\u0100\n', encoding: form });
    expect(await at('start_line=500000&end_line=500002')).toMatchObject({
      content: '500000 ਊ਀\u0100\n500001 ਊ਀\u0100\n',
    });
  }
});

test('V2FS-TEXT FERR-1 MCP-TOOLS a file that is not text is refused alike everywhere, with the call that reads it', async ({
  sandbox,
}) => {
  const path = `${sandbox.directory}/binary`;
  const download = /^GET \/v[12]\/(fs|file)\/download streams the bytes of a file of any size\.$/;
  const asTool = /^sandbox_file_operations with action read and encoding base64 shows the bytes/;
  for (const [what, bytes] of [
    ['Latin-1', Buffer.from('café\n', 'latin1')],
    ['a NUL byte', Buffer.from('caf\0e\n')],
    ['UTF-16 without a mark', Buffer.from('one\n', 'utf16le')],
    ['half a character of UTF-16', Buffer.concat([encoded('one\n', 'utf-16le'), Buffer.of(0x61)])],
    ['a lone surrogate', Buffer.of(0xfe, 0xff, 0xd8, 0x00, 0x00, 0x0a)],
    ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0])],
  ] as const) {
    writeFileSync(path, bytes);
    const change = replace('e', 'x');
    for (const [route, body] of [
      [`GET /v2/fs/read?path=${path}`, undefined],
      ['POST /v2/fs/edit', { path, ...change }],
      ['POST /v1/file/read', { file: path }],
      ['POST /v1/file/replace', { file: path, old_str: 'e', new_str: 'x' }],
      ['POST /v1/file/str_replace_editor', { path, ...change }],
      ['POST /v1/file/str_replace_editor', { path, command: 'view' }],
    ] as const) {
      const { body: reply } = await sandbox.request(route, body);
      expect([what, route, reply.data.error_type, reply.hint]).toEqual([
        ...[what, route],
        'decode_error',
        expect.stringMatching(download),
      ]);
    }
    for (const [tool, input] of [
      ['sandbox_file_operations', { action: 'read', path }],
      ['sandbox_file_operations', { action: 'replace', path, old_str: 'e', new_str: 'x' }],
      ['sandbox_str_replace_editor', { command: 'view', path }],
      ['sandbox_str_replace_editor', { path, ...change }],
    ] as const) {
      const reply = await callTool(sandbox, tool, input);
      expect([what, reply.isError, reply.text.split('\n')[1]]).toEqual([what, true, expect.stringMatching(asTool)]);
    }
    expect(readFileSync(path)).toEqual(bytes);
    const { data } = await callTool(sandbox, 'sandbox_file_operations', { action: 'read', path, encoding: 'base64' });
    expect(data['content']).toBe(bytes.toString('base64'));
  }
});
