/** `npm start` at a terminal, as a person sees it. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { programEnvironment } from '../test/harness/closed-ports.ts';
import { hangMs } from '../test/harness/fair-clock.ts';
import { freeFixedPort } from '../test/harness/free-port.ts';
import { Tmux, type Pane } from '../test/harness/tmux.ts';
import { until } from '../test/harness/until.ts';
import { repositoryRoot } from './repository.mjs';

setDefaultTimeout(hangMs);
const startMs = 120_000;
const offer = 'press o to open it in a browser';

let directory: string;
let opened: string;
let tmux: Tmux;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'boxkeep-test-'));
  opened = join(directory, 'opened');
  mkdirSync(join(directory, 'tmp'));
  writeFileSync(join(directory, 'xdg-open'), `#!/bin/sh\necho "$@" >${opened}.part; mv ${opened}.part ${opened}\n`);
  chmodSync(join(directory, 'xdg-open'), 0o755);
  tmux = new Tmux(directory);
});
afterEach(async () => {
  await tmux[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

/** A terminal in which `npm start` has shown its example. */
async function started(port: number, env: Readonly<Record<string, string>>): Promise<Pane> {
  const flags = [`--port=${port}`, `--runtime-dir=${join(directory, 'runtime')}`];
  const own = { HOME: directory, PATH: `${directory}:${process.env['PATH']}`, ...env };
  // An interrupt of the terminal ends npm at once, which tells nothing of the program that npm has started.
  const command = ['node', 'tools/start.mjs', ...flags];
  const pane = tmux.pane({ command, cwd: repositoryRoot, env: programEnvironment(own), cols: 200, rows: 50 });
  const address = `in the console: http://127.0.0.1:${port}/`;
  await until('the example has ended', () => pane.history.includes(address), startMs).catch((error: unknown) => {
    throw new Error(`${String(error)}; the terminal shows:\n${pane.history}`);
  });
  return pane;
}

test('npm start opens the console at the key o, and Ctrl-C ends the daemon after that', async () => {
  const port = freeFixedPort();
  const pane = await started(port, { DISPLAY: ':1' });
  await pane.shows(offer);
  pane.type('o');
  await until('the page is opened', () => existsSync(opened));
  expect(readFileSync(opened, 'utf8')).toBe(`http://127.0.0.1:${port}/\n`);
  pane.type({ key: 'C-c' });
  expect(await pane.ended()).toBe(0);
});

test('npm start without a desktop prints the address alone, and at a desktop Ctrl-C ends the daemon at once', async () => {
  const plain = await started(freeFixedPort(), {});
  plain.type({ key: 'C-c' });
  expect(await plain.ended()).toBe(0);
  expect(plain.history).not.toContain(offer);

  const pane = await started(freeFixedPort(), { WAYLAND_DISPLAY: 'wayland-0' });
  await pane.shows(offer);
  pane.type({ key: 'C-c' });
  expect(await pane.ended()).toBe(0);
  expect(existsSync(opened)).toBe(false);
});
