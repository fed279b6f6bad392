/** The examples of the clients: sixteen tasks in at most 45 lines of each language, and what they do. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'bun:test';
import { Chromium } from '../harness/chromium.ts';
import { ComputerWorker } from '../harness/computer-worker.ts';
import { TestDisplay } from '../harness/display.ts';
import { needPython } from '../harness/interpreters.ts';
import { expect, repositoryRoot, test } from '../harness/sandbox.ts';
import { startSite } from '../harness/site.ts';

const maxLines = 45;
const key = 'a-key-of-the-test';
const environment = needPython('code');
const logins: string[] = [];
const form = `<!doctype html><form action="/home"><label>User <input name="user"></label>
  <label>Password <input name="password" type="password"></label><button>Sign in</button></form>`;
const html = { headers: { 'content-type': 'text/html' } };
const site = startSite({
  '/login': () => new Response(form, html),
  '/home': ({ searchParams }) => {
    logins.push(searchParams.toString());
    return new Response('<h1>Welcome</h1>', html);
  },
});
let chromium: Chromium;
let display: TestDisplay;
let worker: ComputerWorker;

beforeAll(async () => {
  chromium = await Chromium.start();
  display = await TestDisplay.start();
  worker = await ComputerWorker.start({ env: display.environment });
});
afterAll(async () => {
  await chromium[Symbol.asyncDispose]();
  await worker[Symbol.asyncDispose]();
  await display[Symbol.asyncDispose]();
  site.stop();
});

const python = needPython('clients/python/client', '3.13');
const examples = { 'tasks.ts': [process.execPath], 'tasks.py': [join(python, 'bin/python'), '-B'] };
const pngStart = '\x89PNG';

for (const [name, command] of Object.entries(examples))
  test(
    `CLIENT-TASKS sixteen tasks take at most ${maxLines} lines (${name})`,
    async ({ sandbox }) => {
      const example = join(repositoryRoot, 'examples/clients', name);
      expect(readFileSync(example, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(maxLines);
      const own = join(sandbox.directory, 'client');
      mkdirSync(join(own, 'project'), { recursive: true });
      writeFileSync(join(own, 'project/greet.py'), 'import sys\nprint("Hello", *sys.argv[1:])\n');
      const program = Bun.spawn([...command, example, sandbox.url, site.url('/login')], {
        cwd: own,
        env: {
          ...{ PATH: process.env['PATH'], SVC_API_KEY: key },
          PYTHONPATH: join(repositoryRoot, 'clients/python/src'),
        },
        stdout: 'pipe',
        stderr: 'pipe',
      });
      const [stdout, stderr, code] = await Promise.all([program.stdout.text(), program.stderr.text(), program.exited]);
      expect([code, stderr]).toEqual([0, '']);
      const lines = stdout.replaceAll(/\s*\n\s*/g, '\n');
      expect(lines).toStartWith('Linux\n1\n2\n3\nimport sys\nprint("Bonjour", *sys.argv[1:])\n2\ncreate\n');
      expect(lines).toMatch(/\r?42\s[^]*ZeroDivisionError\ntool\n[^]*file_not_found /);
      expect(readFileSync(join(own, 'edited/greet.py'), 'utf8')).toContain('Bonjour');
      for (const picture of ['plot.png', 'page.png', 'desktop.png'])
        expect(readFileSync(join(own, picture), 'latin1')).toStartWith(pngStart);
      expect(logins.splice(0)).toEqual(['user=ada&password=secret']);
    },
    {
      env: () => ({
        ...{ SVC_API_KEY: key, SVC_BROWSER_IDLE_SECONDS: '1', PATH: `${environment}/bin:/usr/bin:/bin` },
        ...chromium.environment,
        ...worker.environment,
      }),
    },
  );
