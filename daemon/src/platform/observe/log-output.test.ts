/** The fate of log lines when no process reads the log. */
import { Writable } from 'node:stream';
import { expect, test } from 'bun:test';
import { logOutput } from './log-output.ts';

const line = `${'x'.repeat(1023)}\n`;

test('a stalled reader has a backlog of one mebibyte, and learns how much was dropped beyond it', () => {
  const received: string[] = [];
  let resume = () => {};
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      received.push(chunk);
      resume = done;
    },
  });
  const write = logOutput(stream);
  for (let n = 0; n < 2000; n++) write(line);
  while (stream.writableLength > 0) resume();
  expect(received.length).toBe(1025);
  write('again\n');
  while (stream.writableLength > 0) resume();
  expect(JSON.parse(received.at(-2) ?? '')).toMatchObject({ level: 'warn', lines: 975 });
  expect(received.at(-1)).toBe('again\n');
});

test('a reader that disconnects ends only the log', async () => {
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
