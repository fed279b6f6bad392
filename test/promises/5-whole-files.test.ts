/**
 * Promise 5: success on a write means that the bytes are there, whole: the old file or the new one, never a mixture.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withFewDescriptors } from '../harness/descriptors.ts';
import { inRoom, otherDisk } from '../harness/disks.ts';
import { showFigures } from '../harness/figures.ts';
import { expect, fixture, test, type Reply, type EnvelopeBody } from '../harness/sandbox.ts';
import { testAccount } from '../harness/test-account.ts';
import { notesOf, touchesOf } from '../harness/trees.ts';
import { seed } from '../harness/seed.ts';
import { until } from '../harness/until.ts';

/** For every twentieth version: large enough that a kill hits a half-written file. */
const isLarge = (n: number): boolean => n > 0 && n % 20 === 0;

/** A file that consists of one version. */
function version(n: number): string {
  return `version ${String(n).padStart(6, '0')}\n`.repeat(isLarge(n) ? 200_000 : 4000);
}

/** The version that a file holds. Throws when the file is not whole. */
function wholeVersion(content: string): number {
  const n = Number(/^version (\d{6})\n/.exec(content)?.[1]);
  if (content !== version(n)) throw new Error(`${content.length} bytes are not a version: ${content.slice(0, 40)}`);
  return n;
}

/** Reads the file continuously until it is stopped; every read must find a whole version, none older than before. */
function watchFile(path: string) {
  let isOver = false;
  const polling = (async () => {
    let looks = 0;
    for (let last = 0; !isOver; looks++) {
      const now = wholeVersion(readFileSync(path, 'utf8'));
      expect(now).toBeGreaterThanOrEqual(last);
      last = now;
      await Bun.sleep(1);
    }
    return looks;
  })();
  polling.catch(() => null); // Reported when the watch ends.
  return async () => {
    isOver = true;
    expect(await polling).toBeGreaterThan(10);
  };
}

/** Numbers from 0 to 1, the same for the same seed. */
function randomFrom(): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const parts = (directory: string): string[] => readdirSync(directory).filter((name) => name.startsWith('.svc-write-'));

/** Resolves when a write has begun there, or was answered before the test saw it. */
async function nextPart(directory: string, writing: Promise<unknown>): Promise<void> {
  let isAnswered = false;
  void writing.then(() => (isAnswered = true));
  while (!isAnswered && parts(directory).length === 0) await new Promise((resolve) => setImmediate(resolve));
}

test(
  'PROMISE-5 a daemon killed at random points of 500 writes leaves no partial file, and stale parts are removed',
  async ({ sandbox }) => {
    const directory = join(sandbox.directory, 'files');
    const path = join(directory, 'file');
    mkdirSync(directory);
    writeFileSync(path, version(0));
    const random = randomFrom();
    const endWatch = watchFile(path);
    let [answered, deaths, staleParts] = [0, 0, 0];
    let servedAt = performance.now();
    // On a busy machine the test misses many writes, so it makes more.
    const isEnough = () => staleParts > 2 || deaths >= 100;
    for (let n = 1; n <= 500 || !isEnough(); n++) {
      const isKilled = isLarge(n);
      // init gives up on a daemon that dies ten times in a row within a second of its start.
      const isOld = () => !isKilled || deaths % 9 !== 8 || performance.now() - servedAt > 1100;
      await until('the daemon is a second old', isOld);
      const writing = sandbox.request('POST /v2/fs/write', { path, content: version(n) }).catch(() => null);
      if (isKilled) {
        // At any point of the write, and every other time while it is half done.
        if (deaths % 2 === 0) await Bun.sleep(random() * 12);
        else await nextPart(directory, writing);
        process.kill(sandbox.daemonPid, 'SIGKILL');
        deaths++;
      }
      const answer = await writing; // Without an answer the write may have happened or not.
      if (answer) {
        expect(answer.status).toBe(200);
        answered = n;
      }
      expect(wholeVersion(readFileSync(path, 'utf8'))).toBeGreaterThanOrEqual(answered);
      if (!isKilled) continue;
      staleParts += parts(directory).length;
      await sandbox.served();
      servedAt = performance.now();
      await until(
        'what the dead daemon left is cleared',
        () => parts(directory).length + notesOf(sandbox).length === 0,
      );
    }
    await endWatch();

    showFigures({ writes: answered, kills: deaths });
    expect(deaths).toBeGreaterThanOrEqual(25);
    expect(staleParts).toBeGreaterThan(2); // Some of the kills hit a write.
  },
  { expectedWarnings: ['started again by init'], timeoutMs: 180_000 },
);

test(
  'PROMISE-5 IDENT-3 a daemon killed while it makes directories leaves none without its owner',
  async ({ sandbox }) => {
    const directory = join(sandbox.directory, 'made');
    mkdirSync(directory);
    const isClear = () => parts(directory).length + notesOf(sandbox).length === 0;
    let servedAt = performance.now();
    for (let deaths = 0; deaths < 30; deaths++) {
      const isOld = () => deaths % 9 !== 8 || performance.now() - servedAt > 1100;
      await until('the daemon is a second old', isOld);
      await until('what the dead daemon left is cleared', isClear);
      const known = readdirSync(directory).length;
      const requests = Array.from({ length: 20 }, (_, n) => {
        const body = { path: `${directory}/${deaths}-${n}/inner`, parents: true };
        return sandbox.request(`POST /v2/fs/mkdir?user=${testAccount.uid}`, body).catch(() => null);
      });
      // Some of the directories are being made then; at every other death, one is whole.
      const isTime = () =>
        deaths % 2 === 0
          ? readdirSync(directory).length > known + (deaths % 8)
          : readdirSync(directory).length - parts(directory).length > known;
      while (!isTime()) await new Promise((resolve) => setImmediate(resolve));
      process.kill(sandbox.daemonPid, 'SIGKILL');
      await Promise.all(requests);
      await sandbox.served();
      servedAt = performance.now();
    }
    await until('what the last daemon left is cleared', isClear);
    const made = readdirSync(directory, { recursive: true, encoding: 'utf8' });
    expect(made.length).toBeGreaterThanOrEqual(15);
    expect(made.filter((name) => statSync(join(directory, name)).uid !== testAccount.uid)).toEqual([]);
  },
  { expectedWarnings: ['started again by init'], timeoutMs: 180_000 },
);

test(
  'PROMISE-5 a tree that was being copied or deleted when the daemon died is removed too',
  async ({ sandbox }) => {
    const at = (name: string) => join(sandbox.directory, 'files', name);
    for (let n = 0; n < 4000; n++) {
      const directory = at(`tree/${n % 40}`);
      mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, String(n)), '');
    }
    const copying = sandbox
      .request('POST /v2/fs/copy', { path: at('tree'), destination: at('copy') })
      .catch(() => null);
    await until('the copy has begun', () => parts(at('')).some((part) => readdirSync(at(part)).length > 3));
    process.kill(sandbox.daemonPid, 'SIGKILL');
    expect(await copying).toBeNull();
    expect(readdirSync(at('')).length).toBe(2);
    await sandbox.served();
    await until('the half copy is cleared', () => parts(at('')).length === 0);
    expect(readdirSync(at(''))).toEqual(['tree']);
    expect(readdirSync(at('tree')).length).toBe(40);
  },
  { expectedWarnings: ['started again by init'] },
);

test(
  'PROMISE-5 a full disk leaves the old file to every reader',
  async ({ sandbox }) => {
    const path = join(sandbox.directory, 'disk/file');
    expect((await sandbox.request('POST /v2/fs/write', { path, content: version(0) })).status).toBe(200);
    const endWatch = watchFile(otherDisk(sandbox, 'file'));
    const huge = 'x'.repeat(1_000_000);
    for (let n = 1; n <= 30; n++) {
      const [full, fitting] = [
        { path, content: huge },
        { path, content: version(n) },
      ];
      const statuses = (
        await Promise.all([full, fitting].map((body) => sandbox.request('POST /v2/fs/write', body)))
      ).map(({ status }) => status);
      expect(statuses[0]).toBe(507);
      expect([200, 507]).toContain(statuses[1] ?? 0);
    }
    await endWatch();
    expect(readdirSync(otherDisk(sandbox))).toEqual(['file']);
  },
  inRoom(1),
);

test('PROMISE-5 a daemon without free descriptors refuses requests, and no file is half written', async ({
  sandbox,
}) => {
  const path = (n: number) => join(sandbox.directory, `file-${n}`);
  const writers = Array.from({ length: 60 }, (_, n) => n);
  for (const n of writers) writeFileSync(path(n), version(0));
  const answers = await (async () => {
    using _few = withFewDescriptors(sandbox, 90);
    return await Promise.all(
      writers.map((n) => sandbox.request('POST /v2/fs/write', { path: path(n), content: version(1) })),
    );
  })();

  for (const [n, { status, body }] of answers.entries()) {
    expect(wholeVersion(readFileSync(path(n), 'utf8'))).toBe(status === 200 ? 1 : 0);
    if (status === 200) continue;
    expect(status).toBe(503);
    expect(body.data).toMatchObject({ errno_name: 'EMFILE', retryable: true, operation: 'write' });
  }
  expect(answers.filter(({ status }) => status !== 200).length).toBeGreaterThan(0);
  expect(parts(sandbox.directory)).toEqual([]);
  await Promise.all(writers.map((n) => sandbox.ok('POST /v2/fs/write', { path: path(n), content: version(2) })));
});

const secretBytes = 60_000;

/** The requests to a root daemon in a directory of the account, in a loop. */
function requestsOf(home: string, n: number): [string, object][] {
  const at = (name: string) => join(home, name);
  return [
    ['write', { path: at(`tree/way/new-${n % 7}/file`), content: 'written' }],
    ['write', { path: at('tree/way/file'), content: 'written' }],
    ...Array.from({ length: 8 }, (): [string, object] => [
      'write',
      { path: at('tree/way/deep/file'), content: 'appended', append: true },
    ]),
    ['mkdir', { path: at(`tree/way/made-${n % 7}/below`), parents: true }],
    ['copy', { path: at('tree'), destination: at(`copy-${n}`) }],
    ['copy', { path: at('tree/way/file'), destination: at(`file-${n}`) }],
    ['copy', { path: at('own'), destination: at('tree/way/deep/own'), overwrite: true }],
    ['move', { path: at(`file-${n}`), destination: at('tree/way/file'), overwrite: true }],
    ['move', { path: at('tree/way/file'), destination: at(`moved-${n}`) }],
    ['delete', { path: at('tree/way/deep/file') }],
    ['delete', { path: at('tree/way/deep'), recursive: true }],
    ['delete', { path: at(`copy-${n}`), recursive: true }],
    ['delete', { path: at('tree'), recursive: true }],
  ];
}

test(
  'PROMISE-5 V2FS-TRICK an account that swaps directories for links never makes the root daemon touch or show files elsewhere',
  async ({ sandbox }) => {
    const home = join(sandbox.directory, 'home');
    const user = `${testAccount.uid}:${testAccount.gid}`;
    const outside = join(sandbox.directory, 'outside');
    const before = touchesOf(outside);
    const hostile = await sandbox.start({
      command: `${join(sandbox.directory, 'swaps-links')} ${outside}`,
      cwd: home,
      user,
    });
    await until(
      'the account is at work',
      async () => (await sandbox.ok(`GET /v2/commands/${hostile}`))['stdout'] !== '',
    );
    const statuses = new Map<string, number>();
    for (let n = 0; n < 60; n++) {
      const ask = ([verb, body]: [string, object]): Promise<Reply<EnvelopeBody>> =>
        sandbox.request(`POST /v2/fs/${verb}?user=${user}`, body);
      for (const request of requestsOf(home, n)) {
        const { status, body } = await ask(request);
        const key = `${request[0]} ${status}`;
        statuses.set(key, (statuses.get(key) ?? 0) + 1);
        if (status === 500) expect(body.data).toMatchObject({ retryable: true });
        // The appended file belongs to the account: no other file is as large.
        if (request[0] === 'write' && status === 200) expect(body.data['size']).toBeLessThan(secretBytes);
      }
    }
    await sandbox.ok(`POST /v2/commands/${hostile}/kill`, { signal: 'SIGKILL' });
    await sandbox.ended(hostile);

    expect(touchesOf(outside)).toEqual(before);
    const found = await sandbox.run({ command: 'grep -rl secret home; true', cwd: sandbox.directory });
    expect(found).toMatchObject({ stdout: '' });
    // Each verb has succeeded, and has been misdirected.
    for (const verb of ['write', 'mkdir', 'copy', 'move', 'delete']) {
      expect([verb, statuses.get(`${verb} 200`) ?? 0]).not.toEqual([verb, 0]);
    }
    expect(statuses.get('write 403') ?? 0).toBeGreaterThan(0);
  },
  {
    prepare({ directory }) {
      chmodSync(directory, 0o755);
      for (const name of ['home/own', 'outside/deep']) mkdirSync(join(directory, name), { recursive: true });
      writeFileSync(join(directory, 'home/own/file'), 'own');
      for (const name of ['home', 'home/own', 'home/own/file']) {
        chownSync(join(directory, name), testAccount.uid, testAccount.gid);
      }
      for (const name of ['outside/file', 'outside/deep/file']) {
        writeFileSync(join(directory, name), 'secret'.repeat(secretBytes / 6), { mode: 0o600 });
      }
      const program = join(directory, 'swaps-links');
      const { status, stderr } = spawnSync('cc', ['-static', '-O1', '-o', program, fixture('swaps-links.c')]);
      if (status !== 0) throw new Error(`cc could not build test/fixtures/swaps-links.c: ${String(stderr)}`);
    },
  },
);
