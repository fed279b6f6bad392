/** Writes bytes to the standard input of a command through its keeper, exactly once across reconnects. */
import type { ChildState } from './child-state.ts';
import type { KeeperLink } from './keeper-link.ts';
import { encodeStdin } from './keeper-protocol.ts';

const stdinChunkBytes = 64 * 1024;

/** Implements `Child.writeStdin`. The link is null while no keeper is connected. */
export async function writeStdin(
  { state, link }: { readonly state: ChildState; readonly link: () => KeeperLink | null },
  offset: number,
  bytes: Uint8Array,
  signal?: AbortSignal,
): Promise<number> {
  const end = offset + bytes.length;
  const goesOn = () => state.stdin.accepted < end && state.stdin.isOpen && !signal?.aborted;
  while (goesOn()) {
    const before = state.stdin;
    const used = link();
    const from = Math.max(offset, before.accepted);
    used?.send(encodeStdin(from, bytes.subarray(from - offset, from - offset + stdinChunkBytes)));
    // Bytes that a closed connection did not deliver are lost with that connection, so the loop sends them again. On
    // an open connection the keeper accepts bytes now, or later when the command has read some of the buffered ones.
    // The keeper reports both events, and both reports may arrive before this loop runs again.
    const isUnanswered = () =>
      link() === used && state.stdin.accepted === before.accepted && state.stdin.written === before.written;
    while (isUnanswered() && goesOn()) await state.changes.wait(signal);
  }
  return state.stdin.accepted;
}
