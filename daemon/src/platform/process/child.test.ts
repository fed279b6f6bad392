/** How a daemon handles the frames of a keeper, in any order and combination. */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ownership } from '../../kit/ownership.ts';
import { Child } from './child.ts';
import { CommandDirectory } from './command-directory.ts';
import { encodeFrame, FrameReader, fromKeeper, readUint64, statusFlag, toKeeper, uint64s } from './keeper-protocol.ts';

const statusBytes = 128;

/** A running command with a full stdin buffer: 100 bytes were accepted, and the command has read none of them. */
function fullStatus(): Buffer {
  const status = Buffer.alloc(statusBytes);
  status.writeUInt16LE(2, 0);
  status.writeUInt16LE(statusFlag.stdinOpen, 2);
  status.writeUInt32LE(process.pid, 4);
  status.writeBigUInt64LE(100n, 72);
  return encodeFrame(fromKeeper.status, status);
}

const taken = (accepted: number, written: number) => encodeFrame(fromKeeper.stdin, uint64s(accepted, written));

test('refused input is written as soon as there is room, although refusal and room arrive together', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'boxkeep-child-'));
  const asked: number[] = [];
  const control = join(directory, 'control');
  const keeper = Bun.listen<FrameReader>({
    unix: control,
    socket: {
      open(socket) {
        socket.data = new FrameReader((type, payload) => {
          if (type !== toKeeper.stdin) return;
          asked.push(readUint64(payload, 0));
          // The command reads everything right after the refusal, and nothing happens after that.
          socket.write(asked.length === 1 ? Buffer.concat([taken(100, 0), taken(100, 100)]) : taken(103, 100));
        });
        socket.write(fullStatus());
      },
      data: (socket, bytes) => socket.data.push(bytes),
    },
  });
  try {
    const child = new Child(new CommandDirectory(directory), control, new Set(), new Ownership());
    await child.attach();
    await child.changed(); // The status has arrived.

    expect(await child.writeStdin(100, Buffer.from('abc'))).toBe(103);
    expect(asked).toEqual([100, 100]);
    child.release();
  } finally {
    keeper.stop(true);
    rmSync(directory, { recursive: true });
  }
});

test('a read returns all of the output when the log has more than the keeper pushed', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'boxkeep-child-'));
  const control = join(directory, 'control');
  const pushed = encodeFrame(fromKeeper.output, Buffer.concat([uint64s(6, 0, 0, 0), Buffer.from('pushed')]));
  const keeper = Bun.listen({ unix: control, socket: { open: (socket) => void socket.write(pushed), data() {} } });
  try {
    const ownership = new Ownership();
    const child = new Child(new CommandDirectory(directory), control, new Set(), ownership);
    await child.attach();
    while (child.ends[0] === 0) await child.changed();
    const read = (offset: number) => {
      const piece = child.readInto(Buffer.alloc(100), offset);
      return piece?.kind === 'bytes' ? Buffer.from(piece.bytes).toString() : piece;
    };
    expect(read(2)).toBe('shed');
    writeFileSync(join(directory, 'out'), 'pushed and stored');
    ownership.finishLeaving();
    child.release();
    child.refresh();
    expect(read(2)).toBe('shed and stored');
  } finally {
    keeper.stop(true);
    rmSync(directory, { recursive: true });
  }
});
