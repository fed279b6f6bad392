/** A row measures a running server. The test uses the baseline, which needs no build. */
import { expect, test } from 'bun:test';
import { refOf } from './peers/browser.ts';
import { plainInterpreters } from './peers/plain-code.ts';
import { timeOf } from './peers/code.ts';
import { decode, encode } from './peers/jupyter-frames.ts';
import { direct } from './peers/direct.ts';
import { exec } from './rows/exec.ts';

test('the exec row has one sample per counted run', async () => {
  await using server = await direct(null).open();
  const noDaemon = () => Promise.reject(new Error('the exec row starts no daemon of its own'));
  const field = { contestants: [server], starters: [], openBoxkeep: noDaemon, openBoxkeepIn: noDaemon };
  const [measurement] = await exec.measure({ ...field, limitFor: () => null });
  const samples = measurement?.samples['direct'] ?? [];
  expect(samples.length).toBeGreaterThan(10);
  expect(Math.min(...samples)).toBeGreaterThan(0);
  expect(await server.run('exit 3')).toBe(3);
});

test('a plain interpreter runs one cell as a program, or many when cells are fed to it; a wrong answer is not a sample', async () => {
  const path = process.env['PATH'] ?? '';
  const servers = (['once', 'fed'] as const).flatMap((kind) => plainInterpreters(null, path, kind));
  for (const { openSession, language } of servers) {
    await using session = await openSession();
    expect(await timeOf(session, language.print('a "word"'), 'a "word"\n')).toBeGreaterThan(0);
    expect(await session.run(language.printLines('line', 3))).toBe('line\nline\nline\n');
    expect(await timeOf(session, language.print('one'), 'another\n').catch(String)).toContain('has printed one');
  }
});

test('a Jupyter frame follows the protocol', () => {
  const frame = encode('shell', 'id-1', 'stream', { text: 'ü' });
  const offsets = Array.from({ length: 7 }, (_, index) => Number(frame.readBigUInt64LE(8 * index)));
  expect(offsets[0]).toBe(6);
  expect(frame.toString('utf8', offsets[1], offsets[2])).toBe('shell');
  expect(JSON.parse(frame.toString('utf8', offsets[5], offsets[6]))).toEqual({ text: 'ü' });
  expect(offsets[6]).toBe(frame.length);
  const { type, answers, content } = decode(frame);
  expect([type, answers, content()]).toEqual(['stream', undefined, { text: 'ü' }]);
});

test('the ref of an element is found in the snapshots of all servers', () => {
  const snapshots = [
    '- button "Save" [ref=e1-2f]',
    '- button "Save" [level=1, ref=e1-2f]',
    '- button "Save" [ref=e1-2f] [active]',
  ];
  for (const text of snapshots) expect(refOf(`- heading "Save it"\n  ${text}\n`, 'Save')).toBe('e1-2f');
  expect(() => refOf('- button "Save"', 'Save')).toThrow('no ref for Save');
});
