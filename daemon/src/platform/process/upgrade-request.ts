/** Asks the init of a runtime directory to run another program, and returns the outcome. */
import { closeSync, existsSync, openSync } from 'node:fs';
import type { UpgradeOutcome, UpgradeRequest } from '../../kit/types/upgrade.ts';
import { encodeFrame, FrameReader, initFrame } from './keeper-protocol.ts';

/** Null when no init listens there. Rejects with an Error of one clear line when the upgrade was called off. */
export async function requestUpgrade(directory: string, request: UpgradeRequest): Promise<UpgradeOutcome | null> {
  if (!existsSync(`${directory}/upgrade.sock`)) return null;
  // Goes through the open directory, because a socket path may have at most 107 bytes.
  const descriptor = openSync(directory, 'r');
  try {
    return await converse(`/proc/self/fd/${descriptor}/upgrade.sock`, request);
  } finally {
    closeSync(descriptor);
  }
}

async function converse(path: string, { file, daemon }: UpgradeRequest): Promise<UpgradeOutcome | null> {
  const { promise, resolve, reject } = Promise.withResolvers<UpgradeOutcome>();
  const frames = new FrameReader((type, payload) => {
    if (type === initFrame.upgraded) resolve(decodeOutcome(payload));
    else reject(new Error(payload.toString()));
  });
  try {
    const socket = await Bun.connect({
      unix: path,
      socket: {
        data: (_socket, bytes) => frames.push(bytes),
        close: () => reject(new Error('boxkeep has ended over the upgrade')),
      },
    });
    socket.write(encodeFrame(initFrame.upgrade, Buffer.from(`${[file, ...daemon].join('\0')}\0`)));
  } catch {
    return null; // A stale socket file without a listener.
  }
  return promise;
}

function decodeOutcome(payload: Buffer): UpgradeOutcome {
  const [from = '', to = '', fault = ''] = payload.subarray(8).toString().split('\0');
  return {
    from,
    to,
    totalMs: payload.readUInt32LE(0),
    heldMs: payload.readUInt32LE(4),
    fault: fault === '' ? null : fault,
  };
}
