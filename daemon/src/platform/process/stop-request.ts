/** Asks the init of a runtime directory to end, and waits for its end. */
import type { Stopped } from '../../kit/types/upgrade.ts';
import { askInit } from './init-request.ts';
import { encodeFrame, initFrame } from './keeper-protocol.ts';

/** Null when no init listens there. Rejects with an Error of one clear line. */
export async function requestStop(directory: string): Promise<Stopped | null> {
  const silence = 'the boxkeep that runs is older and knows no stop; send SIGTERM to its init';
  const answer = await askInit(directory, encodeFrame(initFrame.stop, Buffer.alloc(0)), silence);
  if (answer === null) return null;
  const { payload, closed } = answer;
  await closed;
  const [version = ''] = payload.subarray(4).toString().split('\0');
  return { pid: payload.readUInt32LE(0), version };
}
