/** Every name that a file system can hold survives the conversion to text and back. */
import { expect, test } from 'bun:test';
import { fc } from '../../../../test/harness/seed.ts';
import {
  decodePath,
  encodePath,
  isPath,
  percentDecode,
  readPath,
  showName,
  showPath,
  systemPath,
} from './path-text.ts';

test('any bytes round-trip', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      expect(new Uint8Array(encodePath(decodePath(bytes)))).toEqual(bytes);
    }),
  );
});

test('any path that is shown is read back as itself', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      const path = `/${decodePath(bytes)}`;
      fc.pre(!path.startsWith('/file:'));
      expect(readPath(showPath(path))).toBe(path);
    }),
  );
});

test('text in UTF-8 stays text, and other bytes are escaped', () => {
  expect(systemPath('/tmp/naïve 😀')).toBe('/tmp/naïve 😀');
  expect(systemPath('/tmp/\udcff')).toEqual(Buffer.from([...Buffer.from('/tmp/'), 0xff]));
  expect(decodePath(Buffer.from([0x61, 0xe2, 0x82, 0x62, 0xff]))).toBe('a\udce2\udc82b\udcff');
  expect(decodePath(Buffer.from([0xc3]))).toBe('\udcc3');
  expect(showPath('/tmp/a b\udcff')).toBe('file:///tmp/a%20b%FF');
  expect(showName('a\udcff😀')).toBe('a\ufffd😀');
});

test('percent escapes are bytes, and invalid escapes stay', () => {
  expect(percentDecode('/a%20b%C3%A9%FF%zz%')).toBe('/a bé\udcff%zz%');
  expect(readPath('/tmp/100%25')).toBe('/tmp/100%25');
  expect(readPath('file:///tmp/100%25')).toBe('/tmp/100%');
});

test('impossible file names are refused', () => {
  expect(isPath('a\0b')).toBe(false);
  expect(isPath('a\ud83d')).toBe(false);
  expect(isPath('a\udcff😀')).toBe(true);
});
