/** The account of a tool is decided before anything is started, on each platform. */
import { expect, test } from 'bun:test';
import type { KeeperSpawn } from '../../platform/process/spawn.ts';
import { Accounts } from '../identity/accounts.ts';
import { Tools } from './tool.ts';

const database = {
  byName: () => null,
  byUid: () => null,
  groupsOf: (_name: string | null, gid: number) => [gid],
  groupName: () => null,
};
const request = { argv: ['python3'], withinMs: 1000, limitBytes: 1000 };

function tools(platform: NodeJS.Platform, defaultUser: string | null, start: KeeperSpawn['start']): Tools {
  return new Tools({
    spawn: { start },
    accounts: new Accounts({ database, own: { uid: 0, gid: 0 }, defaultUser, platform }),
    environment: {},
    onFault(error) {
      throw error;
    },
  });
}

test('on Windows with a default account the tool is unavailable, and no process starts', async () => {
  const refusal = tools('win32', 'ada', () => {
    throw new Error('nothing may be started');
  }).run(request);

  expect(await thrownBy(refusal)).toMatchObject({
    code: 'unavailable',
    message: 'SVC_DEFAULT_USER cannot be applied on Windows',
  });
});

test('a full disk is reported as a full disk', async () => {
  const refusal = tools('linux', null, async () => {
    throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
  }).run(request);

  expect(await thrownBy(refusal)).toMatchObject({
    code: 'unavailable',
    message: 'python3 could not be started: ENOSPC',
  });
});

test('more than 32 runs at once are refused', async () => {
  const start = Promise.withResolvers<never>();
  const busy = tools('linux', null, () => start.promise);
  // The error below ends these runs.
  const running = Array.from({ length: 32 }, () => busy.run(request).catch(() => null));

  expect(await thrownBy(busy.run(request))).toMatchObject({ code: 'capacity_reached' });
  start.reject(Object.assign(new Error('over'), { code: 'EAGAIN' }));
  await Promise.all(running);
});

function thrownBy(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (error: unknown) => error,
  );
}
