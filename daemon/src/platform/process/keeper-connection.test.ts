/** The end of a keeper is reported, whenever it comes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'bun:test';
import { until } from '../../../../test/harness/until.ts';
import { KeeperConnection } from './keeper-connection.ts';

test('the end of a keeper that dies before a listener exists is reported to the first listener', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'boxkeep-keeper-'));
  const path = join(directory, 'control');
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(path, resolve));
  try {
    const connection = await KeeperConnection.open(path);
    await until('the connection has ended', () => !connection.isOpen);
    const ended = Promise.withResolvers<void>();
    let isAdopted = false;
    connection.tell({
      onFrame: () => undefined,
      onClose() {
        expect(isAdopted).toBe(true);
        ended.resolve();
      },
    });
    isAdopted = true;
    await ended.promise;
    connection.send(Buffer.from('lost'));
  } finally {
    server.close();
    rmSync(directory, { recursive: true });
  }
});
