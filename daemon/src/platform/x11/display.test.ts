/** The X11 client against a real server: refusals, long values, many requests, cookies and the end of the server. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestDisplay } from '../../../../test/harness/display.ts';
import { parseDisplayName } from './address.ts';
import { Display } from './display.ts';

const withinMs = 20_000;

let server: TestDisplay;
let display: Display;

beforeAll(async () => {
  server = await TestDisplay.start();
  display = await Display.open({ name: server.name, authority: null, withinMs });
});
afterAll(async () => {
  display.close();
  await server[Symbol.asyncDispose]();
});

test('replies and refusals reach the requests that they belong to', async () => {
  const window = display.windows.create();
  const gone = display.windows.create();
  display.windows.destroy(gone);
  const [place, refusal, again, raised] = await Promise.allSettled([
    display.windows.geometry(window),
    display.windows.geometry(gone),
    display.windows.geometry(window),
    display.windows.raise(gone),
  ]);
  const found = { value: { x: -10, y: -10, width: 1, height: 1 } };
  expect(place).toMatchObject(found);
  expect(again).toMatchObject(found);
  expect(refusal).toMatchObject({ reason: { name: 'X11Refusal', kind: 'BadDrawable', value: gone } });
  expect(raised).toMatchObject({ reason: { name: 'X11Refusal', kind: 'BadWindow', value: gone } });
  display.windows.destroy(window);
});

test('a property longer than a request is written and read whole', async () => {
  const window = display.windows.create();
  const property = await display.atoms.of('BOXKEEP_TEST');
  const bytes = randomBytes(display.connection.maxBodyBytes + 1000);
  await display.properties.write(window, { property, type: property, format: 8, bytes });
  const read = await display.properties.read(window, property, { maxBytes: bytes.length });
  expect([read.remainingBytes, read.bytes.equals(bytes)]).toEqual([0, true]);
  display.windows.destroy(window);
});

test('sequence numbers stay right after more requests than they can count', async () => {
  for (let index = 0; index < 150_000; index += 1) display.windows.destroy(1);
  await display.input.moveTo(31, 41);
  expect(await display.input.pointer()).toMatchObject({ x: 31, y: 41 });
});

test('a request whose signal fires rejects, and the next one has its own reply', async () => {
  const controller = new AbortController();
  const aborted = display.input.pointer(controller.signal);
  controller.abort();
  expect(String(await failureOf(aborted))).toContain('abort');
  expect(await display.windows.geometry(display.root)).toMatchObject({ width: 1280, height: 800 });
});

test('a cookie of the authority file admits the client, and without it the reason is reported', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'boxkeep-cookie-'));
  const file = join(directory, 'authority');
  const other = join(directory, 'other');
  writeFileSync(file, authorityEntry(randomBytes(16)));
  writeFileSync(other, authorityEntry(randomBytes(16)));
  await using guarded = await TestDisplay.start({ flags: ['-auth', file] });
  const admitted = await Display.open({ name: guarded.name, authority: file, withinMs });
  expect(admitted.isOpen).toBe(true);
  admitted.close();
  const refused = Display.open({ name: guarded.name, authority: other, withinMs });
  expect(String(await failureOf(refused))).toContain(
    'the X server refuses this client: Invalid MIT-MAGIC-COOKIE-1 key',
  );
  rmSync(directory, { recursive: true });
});

test('a display that is not there is reported with the reason', async () => {
  const open = (name: string | null, ms = withinMs) => Display.open({ name, authority: null, withinMs: ms });
  expect(String(await failureOf(open(null)))).toContain('DISPLAY is not set');
  expect(String(await failureOf(open('screen')))).toContain('DISPLAY=screen is not the name of a display');
  expect(String(await failureOf(open(':54321')))).toContain('no X server listens there');
  using silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
  expect(String(await failureOf(open(`127.0.0.1:${silent.port - 6000}`, 50)))).toContain(
    'the X server did not answer in time',
  );
  silent.stop(true);
});

test('a server that dies or stops ends the connection, and what waits rejects', async () => {
  await using mortal = await TestDisplay.start();
  const spec = { name: mortal.name, authority: null, withinMs };
  const first = await Display.open(spec);
  process.kill(mortal.pid, 'SIGSTOP');
  expect(String(await failureOf(first.input.pointer()))).toContain('the X server has answered nothing for 5 s');
  process.kill(mortal.pid, 'SIGCONT');
  const second = await Display.open(spec);
  await mortal.kill();
  expect(await second.closed).toBe('the X server has closed the connection');
  expect(String(await failureOf(second.input.pointer()))).toContain('the X server has closed the connection');
}, 60_000);

test('names of displays lead to a socket of this machine or to a port', () => {
  expect(parseDisplayName(':3.1')).toMatchObject({ number: '3', host: null });
  expect(parseDisplayName('build:10.0')?.endpoints).toEqual([{ hostname: 'build', port: 6010 }]);
  expect(parseDisplayName('[::1]:2')?.endpoints).toEqual([{ hostname: '::1', port: 6002 }]);
  expect([parseDisplayName(''), parseDisplayName(':x'), parseDisplayName('build:99999')]).toEqual([null, null, null]);
});

/** The entry that `xauth add` writes for every display of this machine. */
function authorityEntry(cookie: Buffer): Buffer {
  const strings = [Buffer.from(hostname()), Buffer.alloc(0), Buffer.from('MIT-MAGIC-COOKIE-1'), cookie];
  const parts = strings.map((each) => Buffer.concat([Buffer.from([each.length >> 8, each.length & 0xff]), each]));
  return Buffer.concat([Buffer.from([1, 0]), ...parts]);
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => null,
    (error: unknown) => error,
  );
}
