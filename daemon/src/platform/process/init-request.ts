/** Sends one frame to the init of a runtime directory, and returns its answer. */
import { closeSync, existsSync, openSync } from 'node:fs';
import { FrameReader } from './keeper-protocol.ts';

export interface InitAnswer {
  readonly type: number;
  readonly payload: Buffer;
  /** Resolves when init has closed the connection. */
  readonly closed: Promise<void>;
}

/** Null when no init listens there. Rejects with `silence` when init closes the connection without an answer. */
export async function askInit(directory: string, frame: Buffer, silence: string): Promise<InitAnswer | null> {
  if (!existsSync(`${directory}/upgrade.sock`)) return null;
  // Goes through the open directory, because a socket path may have at most 107 bytes.
  const descriptor = openSync(directory, 'r');
  try {
    return await converse(`/proc/self/fd/${descriptor}/upgrade.sock`, frame, silence);
  } finally {
    closeSync(descriptor);
  }
}

async function converse(path: string, frame: Buffer, silence: string): Promise<InitAnswer | null> {
  const answer = Promise.withResolvers<InitAnswer>();
  const end = Promise.withResolvers<void>();
  const frames = new FrameReader((type, payload) => answer.resolve({ type, payload, closed: end.promise }));
  try {
    const socket = await Bun.connect({
      unix: path,
      socket: {
        data: (_socket, bytes) => frames.push(bytes),
        close() {
          answer.reject(new Error(silence));
          end.resolve();
        },
      },
    });
    socket.write(frame);
  } catch {
    return null; // A stale socket file without a listener.
  }
  return await answer.promise;
}
