/** Random frames for init and for keepers: no crash, no hang, no leak, and the next client is served. */
import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { showFigures } from '../../test/harness/figures.ts';
import { fc } from '../../test/harness/seed.ts';
import { isAlive, isSanitized, readProc, signal, Stage, until, type Running } from './harness.ts';
import { encodeRequest, fields, flag, frame, scope, type, type Connection } from './keeper-client.ts';

const runs = (plain: number): { numRuns: number; endOnFailure: boolean } => ({
  numRuns: isSanitized ? Math.ceil(plain / 2) : plain,
  endOnFailure: true, // Shrinking costs as many runs again; the seed and the path repeat this run.
});

/* ---- generators ---- */

const edges = [0, 1, 2, 7, 8, 0x7f, 0x80, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff];
const number32 = fc.oneof(fc.constantFrom(...edges), fc.nat(0xffffffff));
const number64 = fc.oneof(
  fc.constantFrom(...edges.map(BigInt), 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
);
const bytes = fc.oneof(fc.uint8Array({ maxLength: 64 }), fc.uint8Array({ minLength: 1000, maxLength: 5000 }));

/** Every well-formed frame that a running command accepts and survives: SIGNAL uses signals that kill no process. */
const sound = fc.oneof(
  fc.tuple(number64, bytes).map(([offset, text]) => frame(type.stdin, Buffer.concat([fields([64, offset]), text]))),
  number64.map((offset) => frame(type.eof, fields([64, offset]))),
  fc
    .tuple(fc.constantFrom(0, 18, 28, 65, 0xffffffff), fc.constantFrom(0, 1, 2, 3, 0xffffffff))
    .map(([number, where]) => frame(type.signal, fields([32, number], [32, where]))),
  fc.tuple(number32, number32).map(([rows, cols]) => frame(type.resize, fields([16, rows], [16, cols]))),
  fc.constantFrom(type.pause, type.resume, type.tree).map((each) => frame(each)),
  fc.tuple(number64, number64).map(([out, err]) => frame(type.watch, fields([64, out], [64, err]))),
  fc
    .tuple(number64, number64, number32, number32)
    .map(([out, err, most, times]) => frame(type.follow, fields([64, out], [64, err], [32, most], [32, times]))),
  number64.map((cap) => frame(type.cap, fields([64, cap]))),
);

const types = fc.oneof(
  fc.constantFrom(...Object.values(type).filter((each) => each !== type.terminate)),
  fc.nat(0xffff),
);

/** A header that may not fit the bytes after it. */
const unsound = fc
  .record({
    length: fc.option(number32, { freq: 2 }),
    type: types,
    flags: fc.constantFrom(0, 0, 0, 1, 0xffff),
    payload: bytes,
  })
  .map(({ length, type: each, flags, payload }) =>
    Buffer.concat([fields([32, length ?? payload.length], [16, each], [16, flags]), payload]),
  );

const frames = fc.array(fc.oneof({ arbitrary: sound, weight: 4 }, { arbitrary: unsound, weight: 1 }), {
  maxLength: 12,
});
/** The points at which the bytes are split into writes, as shares of the whole, and the point where they stop. */
const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 });
const stop = fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true }));

/** Sends the bytes up to the stop, in several writes. */
async function sendCut(connection: Connection, whole: Buffer, at: readonly number[], upTo: number): Promise<void> {
  const end = Math.floor(whole.length * upTo);
  const places = [...at.map((share) => Math.floor(end * share)), end].toSorted((a, b) => a - b);
  let from = 0;
  for (const place of places) {
    connection.sendBytes(whole.subarray(from, place));
    from = place;
    await Bun.sleep(0); // Another write of the runtime, and usually another read of the keeper.
  }
}

/* ---- invariants ---- */

/** A new client receives the command's status, and its requests are answered. */
async function expectAnswer(here: Stage, running: Running): Promise<Connection> {
  const connection = await here.open(join(running.directory, 'control'));
  expect(await connection.status(type.status)).toMatchObject({ spawned: true, exited: false, pid: running.status.pid });
  const reached = await signal({ ...running, connection }, 0, scope.leader);
  expect(reached).toEqual({ processes: 1, errno: 0 });
  return connection;
}

/** The number of runs after which a process has allocated everything it needs. */
const settled = 100;

function usageOf(pid: number): { descriptors: number; kib: number } {
  const kib = Number(/VmRSS:\s+(\d+)/.exec(readProc(pid, 'status'))?.[1]);
  return { descriptors: readdirSync(`/proc/${pid}/fd`).length, kib };
}

test.each<[string, number]>([
  ['with pipes', flag.stdin],
  ['with one merged stream', flag.stdin | flag.merge],
  ['with a terminal', flag.terminal | flag.block],
])('frames of any kind, in any order and split anywhere, do not affect a command %s', async (_, flags) => {
  await using here = await Stage.start();
  // The bytes for a terminal include ^C, ^\ and ^Z. The command prints first, so the log of the terminal's echo exists.
  const running = await here.run({ argv: ['/bin/sh', '-c', 'trap "" INT QUIT TSTP; echo; exec sleep 600'], flags });
  await until('it sleeps', () => readProc(running.status.pid, 'comm') === 'sleep\n');
  const { keeper } = running.status;
  let count = 0;
  let early = { descriptors: 0, kib: 0 };
  await fc.assert(
    fc.asyncProperty(frames, cuts, stop, async (sent, at, upTo) => {
      const connection = await here.open(join(running.directory, 'control'));
      await sendCut(connection, Buffer.concat(sent), at, upTo);
      const next = await expectAnswer(here, running);
      if (++count === settled) early = usageOf(keeper);
      next.close();
      connection.close();
    }),
    runs(3000),
  );

  showFigures({ 'sequences of frames': count });
  const last = await expectAnswer(here, running);
  expect(usageOf(keeper).descriptors).toBeLessThanOrEqual(early.descriptors);
  // The sanitizer keeps freed memory, to detect later uses.
  if (!isSanitized) expect(usageOf(keeper).kib - early.kib).toBeLessThan(512);
  last.close();
  process.kill(keeper, 'SIGTERM');
  await until('the keeper has left', () => !isAlive(keeper));
});

/* ---- requests ---- */

const text = fc.string({ maxLength: 20 }).filter((each) => !each.includes('\0'));

/** A SPAWN with counts that may be inconsistent; the named program is always /bin/true. */
const request = fc.record({
  flags: fc.oneof(fc.nat(255), number32),
  counts: fc.record({
    groups: fc.oneof(fc.constant(null), fc.nat(0xffff)),
    rlimits: fc.oneof(fc.constant(null), fc.nat(0xffff)),
    argc: fc.oneof(fc.constant(null), number32),
    envc: fc.oneof(fc.constant(null), number32),
  }),
  groups: fc.array(number32, { maxLength: 4 }),
  limits: fc.array(
    fc.record({ resource: fc.constantFrom(4, 7, 99, 0xffffffff), soft: fc.nat(1000), hard: fc.nat(1000) }),
    {
      maxLength: 3,
    },
  ),
  rest: fc.array(text, { maxLength: 4 }),
  env: fc.array(text, { maxLength: 4 }),
  cwd: fc.oneof(fc.constant(''), fc.constant('/'), text),
  oomScoreAdj: fc.integer(),
  hardTimeoutMs: number32,
  graceMs: number32,
  cut: fc.oneof(fc.constant(0), fc.integer({ min: -60, max: 60 })),
});

/** The positions of the counts in the header. */
const countAt = { groups: 20, rlimits: 22, argc: 24, envc: 28 } as const;

function encode(directory: string, made: typeof request extends fc.Arbitrary<infer T> ? T : never): Buffer {
  const { rest, limits, counts, cut } = made;
  const payload = encodeRequest({ ...made, directory, argv: ['/bin/true', ...rest], rlimits: limits });
  if (counts.groups !== null) payload.writeUInt16LE(counts.groups, countAt.groups);
  if (counts.rlimits !== null) payload.writeUInt16LE(counts.rlimits, countAt.rlimits);
  if (counts.argc !== null) payload.writeUInt32LE(counts.argc, countAt.argc);
  if (counts.envc !== null) payload.writeUInt32LE(counts.envc, countAt.envc);
  if (cut > 0) return payload.subarray(0, Math.max(0, payload.length - cut));
  return cut < 0 ? Buffer.concat([payload, Buffer.alloc(-cut, 'x')]) : payload;
}

test('requests of any kind are answered with a start, a failure or an end, and leave no keeper behind', async () => {
  await using here = await Stage.start();
  const { pid } = here.init;
  let count = 0;
  let early = { descriptors: 0, kib: 0 };
  await fc.assert(
    fc.asyncProperty(request, cuts, async (made, at) => {
      const connection = await here.connect();
      await sendCut(connection, frame(type.spawn, encode(here.newDirectory(), made)), at, 1);
      const { type: answer } = await connection.next(type.spawned, type.failed, type.exited);
      if (answer === type.spawned) await connection.next(type.exited);
      connection.close();
      if (++count === settled) early = usageOf(pid);
    }),
    runs(3000),
  );

  showFigures({ requests: count });
  const children = (): string[] => readProc(pid, `task/${pid}/children`).trim().split(' ');
  await until('only the daemon is left', () => children().length === 1);
  expect(usageOf(pid).descriptors).toBeLessThanOrEqual(early.descriptors);
  if (!isSanitized) expect(usageOf(pid).kib - early.kib).toBeLessThan(512);
  expect((await here.shellToEnd('exit 42')).exited).toMatchObject({ exitCode: 42 });
});
