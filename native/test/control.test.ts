/** A keeper keeps its control socket for later commands, and blanks the journal of a forgotten one. */
import { expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, readJournal, rootTest, Stage, until } from './harness.ts';
import { encodeRequest, fields, flag, type, type Connection, type Status } from './keeper-client.ts';

/** The directories of a daemon: `keepers`, and one for each command in `commands`. */
class Runtime {
  readonly keepers: string;
  #count = 0;

  constructor(readonly here: Stage) {
    this.keepers = join(here.directory, 'keepers');
    mkdirSync(join(here.directory, 'commands'));
  }

  newDirectory(): string {
    const directory = join(this.here.directory, 'commands', String(this.#count++));
    mkdirSync(directory);
    return directory;
  }

  /** Starts `read line`, which ends with `endIt`. */
  async start(connection: Connection, flags = 0): Promise<{ directory: string; keeper: number }> {
    const directory = this.newDirectory();
    const argv = ['/bin/sh', '-c', 'read line'];
    const request = { env: this.here.env, argv, flags: flag.reuse | flag.stdin | flags, directory };
    connection.send(type.spawn, encodeRequest(request));
    return { directory, keeper: (await connection.status(type.spawned)).keeper };
  }

  async end(connection: Connection): Promise<Status> {
    connection.send(type.eof, fields([64, 0]));
    return await connection.status(type.exited);
  }
}

const inodeOf = (directory: string) => statSync(join(directory, 'control')).ino;

test('the commands of a keeper have one socket, which a second client reaches through each directory', async () => {
  await using here = await Stage.start();
  const runtime = new Runtime(here);
  mkdirSync(runtime.keepers);
  const connection = await here.connect();
  const first = await runtime.start(connection);
  const inode = inodeOf(first.directory);
  expect(statSync(join(runtime.keepers, String(first.keeper))).ino).toBe(inode);
  expect(await runtime.end(connection)).toMatchObject({ free: true });
  expect(existsSync(join(first.directory, 'control'))).toBe(false);

  // A connection that was made for the ended command is closed without an answer, and changes nothing.
  const isAnswered = await here.open(join(runtime.keepers, String(first.keeper))).then(
    async (late) => {
      await late.ended;
      return late.has(type.status);
    },
    (error: NodeJS.ErrnoException) => error.code !== 'ECONNRESET', // The end came before the runtime had looked.
  );
  expect(isAnswered).toBe(false);

  const second = await runtime.start(connection);
  expect([second.keeper, inodeOf(second.directory)]).toEqual([first.keeper, inode]);
  const other = await here.open(join(second.directory, 'control'));
  expect(await other.status(type.status)).toMatchObject({ spawned: true, keeper: first.keeper });
  expect(await runtime.end(other)).toMatchObject({ closed: true, free: false });
  await until('the keeper has exited', () => !isAlive(first.keeper));
  expect(readdirSync(runtime.keepers)).toEqual([]);
});

test('a name that a killed keeper left is replaced', async () => {
  await using here = await Stage.start();
  const runtime = new Runtime(here);
  const connection = await here.connect();
  const first = await runtime.start(connection);
  expect(await runtime.end(connection)).toMatchObject({ free: true });
  mkdirSync(runtime.keepers);
  writeFileSync(join(runtime.keepers, String(first.keeper)), '');
  const second = await runtime.start(connection);
  expect(statSync(join(runtime.keepers, String(first.keeper))).ino).toBe(inodeOf(second.directory));
  expect(await runtime.end(connection)).toMatchObject({ free: true });
});

rootTest('where a second name is refused, each command has a socket of its own', async () => {
  await using here = await Stage.start();
  const runtime = new Runtime(here);
  const elsewhere = mkdtempSync('/dev/shm/boxkeep-native-');
  try {
    expect(statSync(elsewhere).dev).not.toBe(statSync(here.directory).dev);
    symlinkSync(elsewhere, runtime.keepers);
    const connection = await here.connect();
    for (let command = 0; command < 2; command++) {
      const { directory } = await runtime.start(connection);
      expect(statSync(join(directory, 'control')).isSocket()).toBe(true);
      expect(await runtime.end(connection)).toMatchObject({ free: true });
    }
    const { directory, keeper } = await runtime.start(connection);
    const other = await here.open(join(directory, 'control'));
    expect(await other.status(type.status)).toMatchObject({ spawned: true, keeper });
    await runtime.end(other);
    expect(readdirSync(elsewhere)).toEqual([]);
  } finally {
    rmSync(elsewhere, { recursive: true });
  }
});

const stale = `${' '.repeat(1023)}\n{"event":"exited","exit_code":7}\n{"event":"closed","exit_code":7}\n`.repeat(3);

test('a journal of a forgotten command is reused, and none of its lines is left', async () => {
  await using here = await Stage.start();
  const directory = here.newDirectory();
  writeFileSync(join(directory, 'old-journal'), stale);
  const { ino, size } = statSync(join(directory, 'old-journal'));
  const running = await here.run({ argv: ['/bin/sh', '-c', 'read line; exit 5'], flags: flag.stdin, directory });
  expect(readJournal({ directory }).events.map(({ event }) => event)).toEqual(['spawned']);
  running.connection.send(type.eof, fields([64, 0]));
  expect(await running.connection.status(type.exited)).toMatchObject({ exitCode: 5 });
  expect(readJournal({ directory }).events.map(({ event, exit_code: code }) => [event, code])).toEqual([
    ['spawned', -1],
    ['exited', 5],
    ['closed', 5],
  ]);
  const journal = statSync(join(directory, 'journal'));
  expect([journal.ino, journal.size, readdirSync(directory).includes('old-journal')]).toEqual([ino, size, false]);
});

test('a directory with a journal is not claimed through its old journal; one that is too large is left alone', async () => {
  await using here = await Stage.start();
  const claimed = here.newDirectory();
  writeFileSync(join(claimed, 'journal'), 'claimed');
  writeFileSync(join(claimed, 'old-journal'), stale);
  const failed = await here.request({ argv: ['/bin/true'], directory: claimed });
  expect(failed.frame.type).toBe(type.failed);
  expect(statSync(join(claimed, 'journal')).size).toBe('claimed'.length);

  const large = here.newDirectory();
  writeFileSync(join(large, 'old-journal'), stale.repeat(3));
  const running = await here.run({ argv: ['/bin/sh', '-c', 'exit 6'], directory: large });
  expect(await running.connection.status(type.exited)).toMatchObject({ exitCode: 6 });
  expect(readJournal({ directory: large }).events.map(({ event }) => event)).toEqual(['spawned', 'exited', 'closed']);
});
