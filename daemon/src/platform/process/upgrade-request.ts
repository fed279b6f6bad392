/** Asks the init of a runtime directory to run another program, and returns the outcome. */
import type { UpgradeOutcome, UpgradeRequest } from '../../kit/types/upgrade.ts';
import { askInit } from './init-request.ts';
import { encodeFrame, initFrame } from './keeper-protocol.ts';

/** Null when no init listens there. Rejects with an Error of one clear line when the upgrade was called off. */
export async function requestUpgrade(
  directory: string,
  { file, daemon }: UpgradeRequest,
): Promise<UpgradeOutcome | null> {
  const frame = encodeFrame(initFrame.upgrade, Buffer.from(`${[file, ...daemon].join('\0')}\0`));
  const answer = await askInit(directory, frame, 'boxkeep has ended over the upgrade');
  if (answer === null) return null;
  if (answer.type !== initFrame.upgraded) throw new Error(answer.payload.toString());
  return decodeOutcome(answer.payload);
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
