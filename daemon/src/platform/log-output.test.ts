/** What becomes of the log when nobody reads it. */
import { Writable } from 'node:stream';
import { expect, test } from 'bun:test';
import { logOutput } from './log-output.ts';

const line = `${'x'.repeat(1023)}\n`;

test('a reader that stalls is owed a mebibyte, and told of what was dropped beyond it', () => {
  const heard: string[] = [];
  let goOn = () => {};
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      heard.push(chunk);
      goOn = done;
    },
  });
  const write = logOutput(stream);
  for (let n = 0; n < 2000; n++) write(line);
  while (stream.writableLength > 0) goOn();
  expect(heard.length).toBe(1025);
  write('again\n');
  while (stream.writableLength > 0) goOn();
  expect(JSON.parse(heard.at(-2) ?? '')).toMatchObject({ level: 'warn', lines: 975 });
  expect(heard.at(-1)).toBe('again\n');
});

test('a reader that has gone ends the log, and nothing else', async () => {
  const stream = new Writable({
    write(_chunk, _encoding, done) {
      done(new Error('EPIPE'));
    },
  });
  const write = logOutput(stream);
  write(line);
  await new Promise((resolve) => {
    stream.on('close', resolve);
  });
  expect(() => write(line)).not.toThrow();
});
