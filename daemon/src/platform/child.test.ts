/** What a daemon does with what a keeper tells, in the order and the company in which it may come. */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child } from './child.ts';
import { CommandDirectory } from './command-directory.ts';
import { encodeFrame, FrameReader, fromKeeper, readUint64, statusFlag, toKeeper, uint64s } from './keeper-protocol.ts';

const statusBytes = 128;

/** Running, with room for nothing: 100 bytes were taken, and the command has read none of them. */
function fullStatus(): Buffer {
  const status = Buffer.alloc(statusBytes);
  status.writeUInt16LE(2, 0);
  status.writeUInt16LE(statusFlag.stdinOpen, 2);
  status.writeUInt32LE(process.pid, 4);
  status.writeBigUInt64LE(100n, 72);
  return encodeFrame(fromKeeper.status, status);
}

const taken = (accepted: number, written: number) => encodeFrame(fromKeeper.stdin, uint64s(accepted, written));

test('input that finds no room is written when there is some, although both are told at once', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sandboxd-child-'));
  const asked: number[] = [];
  const control = join(directory, 'control');
  const keeper = Bun.listen<FrameReader>({
    unix: control,
    socket: {
      open(socket) {
        socket.data = new FrameReader((type, payload) => {
          if (type !== toKeeper.stdin) return;
          asked.push(readUint64(payload, 0));
          // The command reads all there is in the moment after the refusal, and nothing more happens then.
          socket.write(asked.length === 1 ? Buffer.concat([taken(100, 0), taken(100, 100)]) : taken(103, 100));
        });
        socket.write(fullStatus());
      },
      data: (socket, bytes) => socket.data.push(bytes),
    },
  });
  try {
    const child = new Child(new CommandDirectory(directory), control, new Set());
    await child.attach();
    await child.changed(); // The status has come.

    expect(await child.writeStdin(100, Buffer.from('abc'))).toBe(103);
    expect(asked).toEqual([100, 100]);
    child.letGo();
  } finally {
    keeper.stop(true);
    rmSync(directory, { recursive: true });
  }
});
