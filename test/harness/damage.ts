/** Damages valid bytes, as a fuzzer of parsers needs them. */

export type Next = () => number;

const tokens = [
  ...[
    '\0',
    '"',
    '\\',
    '{',
    '}',
    '[',
    ']',
    ',',
    ';',
    '=',
    ':',
    '%',
    '%zz',
    '%00',
    '%c3%28',
    '%ud800',
    '+',
    '&',
    '#',
    '..',
  ],
  ...[
    '--',
    '\r\n',
    '\n',
    '\t',
    ' ',
    '/',
    '//',
    '-1',
    '1e999',
    '-0',
    '0x10',
    '9007199254740993',
    'null',
    'true',
    '[]',
    '{}',
  ],
  ...[
    '\\ud800',
    '"__proto__":',
    '\xff\xfe',
    '\xed\xa0\x80',
    '\xc0\xaf',
    '\x80',
    '*',
    'NaN',
    'bytes=',
    'W/',
    'q=',
    ' , ',
  ],
  ...['a'.repeat(3000), '[['.repeat(200), ','.repeat(500), '%'.repeat(99)],
].map((token) => Buffer.from(token, 'latin1'));

const delimiters: ReadonlySet<number> = new Set(Buffer.from(';,&:"{}\r\n'));

/** Removes, repeats, changes or inserts something, or cuts the rest off, up to three times. */
export function damage(whole: Uint8Array, next: Next): Buffer {
  let bytes = Buffer.from(whole);
  for (let left = next() % 4; left > 0; left--) {
    const { before, range, behind } = split(bytes, next);
    const pieces = [
      [before, behind],
      [before, range, range, behind],
      [before, Buffer.from([next() % 256]), behind],
      [before, tokens[next() % tokens.length]!, range, behind],
      [before],
    ];
    bytes = Buffer.concat(pieces[next() % pieces.length]!);
  }
  return bytes;
}

/** Chooses a few bytes, or all between two delimiters. */
function split(bytes: Buffer, next: Next) {
  const at = next() % (bytes.length + 1);
  const isDelimiter = (byte: number) => delimiters.has(byte);
  const start = next() % 2 === 0 ? at : bytes.subarray(0, at).findLastIndex(isDelimiter) + 1;
  const length = start === at ? 1 + (next() % 24) : bytes.subarray(at).findIndex(isDelimiter);
  const end = length < 0 ? bytes.length : at + length;
  return { before: bytes.subarray(0, start), range: bytes.subarray(start, end), behind: bytes.subarray(end) };
}
