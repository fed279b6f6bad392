/** A keeper holds one command after another, and nothing of one command reaches the next. */
import { expect, test } from 'bun:test';
import { existsSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  isAlive,
  isRoot,
  memoryHolds,
  readJournal,
  readLog,
  readProc,
  rootTest,
  Stage,
  statFields,
  until,
} from './harness.ts';
import {
  encodeRequest,
  fields,
  flag,
  scope,
  type,
  type Connection,
  type Request,
  type Status,
} from './keeper-client.ts';

const maxUses = 128;
const resources = { openFiles: 7 } as const;

/** What a command can see of its own process. */
const describeItself = `
  cd /; readlink /proc/self/cwd; umask; ulimit -a; id; env | sort; cat /proc/self/oom_score_adj /proc/self/cgroup
  nice; grep -E "^(Sig|Shd|Cap|Groups|NoNewPrivs|Seccomp|Cpus_allowed:|Umask)" /proc/self/status
  [ "$(cut -d' ' -f6 /proc/$$/stat)" = $$ ] && echo leads its session
  for fd in /proc/$$/fd/*; do echo "\${fd##*/} $(readlink $fd | sed 's/[0-9][0-9]*//g')"; done
`;

interface Ended {
  directory: string;
  status: Status;
}

async function runOn(
  here: Stage,
  connection: Connection,
  script: string,
  request: Partial<Request> = {},
  afterStart: () => void = () => undefined,
): Promise<Ended> {
  const directory = here.newDirectory();
  const flags = flag.reuse | (request.flags ?? 0);
  const argv = ['/bin/sh', '-c', script];
  connection.send(type.spawn, encodeRequest({ env: here.env, argv, ...request, flags, directory }));
  const started = await connection.next(type.spawned, type.failed);
  expect(started.type).toBe(type.spawned);
  afterStart();
  return { directory, status: await connection.status(type.exited) };
}

function descriptorsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).map((name) => `${name} ${readlinkSync(join(folder, name))}`);
}

test('a keeper holds a second command in the same process', async () => {
  await using here = await Stage.start();
  const connection = await here.connect();
  const first = await runOn(here, connection, 'echo one; exit 3');
  expect(first.status).toMatchObject({ exited: true, closed: true, free: true, exitCode: 3, end: [4, 0] });
  expect(existsSync(join(first.directory, 'control'))).toBe(false);
  const second = await runOn(here, connection, 'echo two >&2; echo three; exit 4');
  expect(second.status).toMatchObject({ free: true, exitCode: 4, end: [6, 4], keeper: first.status.keeper });
  expect([readLog(first), readLog(second), readLog(second, 'err')]).toEqual(['one\n', 'three\n', 'two\n']);
  for (const [{ directory, status }, code] of [
    [first, 3],
    [second, 4],
  ] as const) {
    const { header, events } = readJournal({ directory });
    expect(header).toMatchObject({ v: 1, head: [0, 0], gaps: [[], []] });
    expect(events.map(({ event }) => event)).toEqual(['spawned', 'exited', 'closed']);
    expect(events[1]).toMatchObject({ exit_code: code, keeper: status.keeper, pid: status.pid });
  }
  connection.close();
  await until('the keeper has exited', () => !isAlive(first.status.keeper));
});

/** A command that changes all it can of its own process. As root, also the account. */
const busy: Partial<Request> = {
  flags: flag.stdin | (isRoot ? flag.account : 0),
  ...(isRoot ? { uid: 61234, gid: 61235, groups: [61236, 61237] } : {}),
  cwd: '/tmp',
  rlimits: [{ resource: resources.openFiles, soft: 77, hard: 99 }],
  oomScoreAdj: 700,
  hardTimeoutMs: 600_000,
  cap: 4096,
};

test('a second command has the process that a new keeper would give it', async () => {
  await using here = await Stage.start();
  const connection = await here.connect();
  const script = `umask 0; trap '' INT HUP; renice 7 $$ >&2; exec 7</etc/passwd; read line; echo "$SECRET $line"; exit 0`;
  const env = [...here.env, 'SECRET=of-the-environment'];
  await runOn(here, connection, script, { ...busy, env }, () => {
    connection.send(type.stdin, Buffer.concat([fields([64, 0]), Buffer.from('of-the-input\n')]));
  });
  const plain = isRoot ? { flags: flag.account, uid: 61238, gid: 61239 } : {};
  const reused = await runOn(here, connection, describeItself, { ...plain, oomScoreAdj: 500 });
  const fresh = await runOn(here, await here.connect(), describeItself, { ...plain, oomScoreAdj: 500 });
  expect(reused.status.keeper).not.toBe(fresh.status.keeper);
  expect(readLog(fresh)).toContain('leads its session');
  expect(readLog(reused)).toBe(readLog(fresh));
  expect(readLog(reused, 'err')).toBe(readLog(fresh, 'err'));
});

test('a free keeper holds no descriptor and no byte of its command', async () => {
  await using here = await Stage.start();
  const connection = await here.connect();
  const { status } = await runOn(here, connection, 'true');
  const keeper = status.keeper;
  await until('the keeper is clean', () => readProc(keeper, 'comm') === 'boxkeep-spare\n');
  const before = descriptorsOf(keeper);
  const env = [...here.env, 'SECRET=of-the-environment'];
  // The texts are put together here, so that no program text contains them.
  const script = `read line; echo "$line" of-"the-output"; echo of-"the-error" >&2`;
  const { directory } = await runOn(here, connection, script, { env, flags: flag.stdin }, () => {
    connection.send(type.follow, fields([64, 0], [64, 0], [32, 4096], [32, 9]));
    connection.send(type.stdin, Buffer.concat([fields([64, 0]), Buffer.from('of-the-input\n')]));
  });
  expect([readLog({ directory }), readLog({ directory }, 'err')]).toEqual([
    'of-the-input of-the-output\n',
    'of-the-error\n',
  ]);
  await until('the keeper is clean', () => readProc(keeper, 'comm') === 'boxkeep-spare\n');
  expect(descriptorsOf(keeper)).toEqual(before);
  for (const text of ['of-the-environment', 'of-the-input', 'of-the-output', 'of-the-error', directory])
    expect([text, memoryHolds(keeper, text)]).toEqual([text, false]);
  expect(statFields(keeper)[1]).toBe(String(here.init.pid));
});

test('late requests for an ended command have no effect on the keeper or the next command', async () => {
  await using here = await Stage.start();
  const connection = await here.connect();
  const first = await runOn(here, connection, 'true', { flags: flag.stdin });
  connection.send(type.signal, fields([32, 9], [32, scope.tree]));
  connection.send(type.watch, fields([64, 0], [64, 0]));
  connection.send(type.stdin, Buffer.concat([fields([64, 0]), Buffer.from('late\n')]));
  connection.send(type.cap, fields([64, 1]));
  connection.send(type.pause);
  connection.send(type.terminate, fields([32, 0], [32, 1]));
  const second = await runOn(here, connection, 'cat; echo end', { flags: flag.stdin }, () => {
    connection.send(type.eof, fields([64, 0]));
  });
  expect(second.status).toMatchObject({ keeper: first.status.keeper, exitCode: 0, cause: 0, end: [4, 0] });
  expect([type.signalled, type.data].map((kind) => connection.has(kind))).toEqual([false, false]);
});

test('a keeper is free once the last process of its command has ended', async () => {
  await using here = await Stage.start();
  const connection = await here.connect();
  const pipe = join(here.directory, 'pipe');
  const script = `mkfifo ${pipe}; (exec >/dev/null 2>&1; read line < ${pipe}) & exit 5`;
  const { status } = await runOn(here, connection, script);
  expect(status).toMatchObject({ exitCode: 5, free: false });
  writeFileSync(pipe, 'end\n');
  // The end of the output may be seen earlier than the end of the process.
  let last = await connection.status(type.closed, type.status);
  if (!last.free) last = await connection.status(type.status);
  expect(last).toMatchObject({ exitCode: 5, closed: true, free: true });
  const next = await runOn(here, connection, 'exit 6');
  expect(next.status).toMatchObject({ exitCode: 6, keeper: status.keeper });
});

test(`a keeper exits after ${maxUses} commands`, async () => {
  await using here = await Stage.start();
  const connection = await here.connect();
  const ends: Status[] = [];
  for (let use = 0; use < maxUses; use++) ends.push((await runOn(here, connection, 'true')).status);
  expect(new Set(ends.map(({ keeper }) => keeper)).size).toBe(1);
  expect(ends.map(({ free }) => free)).toEqual([...Array<boolean>(maxUses - 1).fill(true), false]);
  await connection.ended;
});

test('a keeper exits after its command when another client took over, when released, or after a failed start', async () => {
  await using here = await Stage.start();
  const request = { argv: ['/bin/sh', '-c', 'read line'], flags: flag.reuse | flag.stdin };
  const running = await here.run(request);
  const other = await here.open(join(running.directory, 'control'));
  expect(await other.status(type.status)).toMatchObject({ spawned: true });
  other.send(type.eof, fields([64, 0]));
  expect(await other.status(type.exited)).toMatchObject({ closed: true, free: false });
  await other.ended;

  const released = await here.run(request);
  released.connection.send(type.release);
  released.connection.send(type.eof, fields([64, 0]));
  expect(await released.connection.status(type.exited)).toMatchObject({ free: false });
  await released.connection.ended;

  const failed = await here.request({ argv: ['/bin/true'], cwd: '/nowhere', flags: flag.reuse });
  expect(failed.frame.type).toBe(type.failed);
  await failed.connection.ended;
});

rootTest('a keeper that its command has changed exits', async () => {
  await using here = await Stage.start();
  const changes = [
    'renice 3 -p $PPID',
    'ionice -c 3 -p $PPID',
    'prlimit --pid $PPID --nofile=50:60',
    'chrt --batch -p 0 $PPID',
    'echo 42 > /proc/$PPID/oom_score_adj',
  ];
  for (const change of changes) {
    const connection = await here.connect();
    const { status, directory } = await runOn(here, connection, change);
    expect([change, readLog({ directory }, 'err'), status.exitCode]).toEqual([change, '', 0]);
    await connection.ended;
    await until(`the keeper after ${change} has exited`, () => !isAlive(status.keeper));
  }
});

test('without the flag, a keeper exits with its command', async () => {
  await using here = await Stage.start();
  const { connection, exited } = await here.shellToEnd('true');
  expect(exited.free).toBe(false);
  await connection.ended;
});
