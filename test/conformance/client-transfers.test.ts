/** Uploads, downloads, directories and watches through the clients of this repository. */
import { afterAll, beforeAll } from 'bun:test';
import { clientOptions, clientsWith, needClients, removeClients, shownBy } from '../harness/own-clients.ts';
import { expect, test } from '../harness/sandbox.ts';

beforeAll(needClients);
afterAll(removeClients);

for (const client of clientsWith('transfers'))
  test(
    `CLIENT-TRANSFERS contents of any size arrive whole, over kills of the daemon, or not at all (${client.name})`,
    async ({ sandbox }) => {
      expect(await shownBy(client, 'transfers', sandbox)).toEqual({
        upload: [60_000_000, true, 0o700],
        sources: [true, 2, 0, true, 3],
        once: ['gave_up', 'the upload broke off, and its source can be read once', false],
        absent: ['local_failed', true, false],
        altered: 'content_differs',
        late: 4,
        download: [60_000_000, true, 60_000_000],
        broken: true,
        stopped: ['Error: enough', false],
        resumed: [true, true, 0o700],
        parts: [],
        small: [0, true, 'file_not_found'],
        changed: 'precondition_failed',
        'directory up': [4, true, 0o755],
        'directory down': [['link', 'ünï'], 0o755],
        'directory absent': ['local_failed', true],
        'directory gone': 'file_not_found',
        changes: [
          ['create', 'new'],
          ['lost', null],
          ['create', 'newer'],
        ],
        watchers: 0,
      });
    },
    clientOptions,
  );
