/** Finds where to start a replay of session output that is too long to replay in full. */
import type { TerminalLog } from '../session/log.ts';

/** Maximum length of a replay: more than the scrollback holds, and a fraction of a second of work. */
export const replayBytes = 4 * 1024 * 1024;

export interface ReplayStart {
  readonly offset: number;
  /** Whether a full-screen program held the screen at this offset; null if unknown. */
  readonly isAltScreen: boolean | null;
}

const lookedAtBytes = 64 * 1024;
const sliceBytes = 1024 * 1024;
const enterAltScreen = Buffer.from('\x1b[?1049h');
const leaveAltScreen = Buffer.from('\x1b[?1049l');
const escape = 0x1b;
const lineFeed = 0x0a;

/** Returns the first offset at or past `wanted` where a character begins, or a line if one begins nearby. */
export async function replayStart(
  log: TerminalLog,
  wanted: number,
  pause: () => Promise<unknown>,
): Promise<ReplayStart> {
  if (wanted <= 0) return { offset: 0, isAltScreen: null };
  const buffer = Buffer.allocUnsafe(lookedAtBytes);
  const piece = log.readInto(buffer, wanted);
  if (piece?.kind !== 'bytes') return { offset: piece?.to ?? wanted, isAltScreen: null };
  const offset = wanted + safePlace(piece.bytes);
  return { offset, isAltScreen: await isInAltScreen(log, offset, pause) };
}

function safePlace(bytes: Uint8Array): number {
  const line = bytes.indexOf(lineFeed);
  if (line >= 0) return line + 1;
  const sequence = bytes.indexOf(escape);
  if (sequence >= 0) return sequence;
  return Math.max(
    0,
    bytes.findIndex((byte) => byte < 0x80 || byte >= 0xc0),
  );
}

/** Returns whether the last screen switch before `end` entered the alternate screen; null if there was no switch. */
async function isInAltScreen(log: TerminalLog, end: number, pause: () => Promise<unknown>): Promise<boolean | null> {
  const buffer = Buffer.allocUnsafe(sliceBytes);
  const { head } = log;
  for (let to = end; to > head;) {
    const from = Math.max(head, to - sliceBytes);
    const piece = log.readInto(buffer.subarray(0, to - from), from);
    const bytes = piece?.kind === 'bytes' ? buffer.subarray(0, piece.bytes.length) : buffer.subarray(0, 0);
    const [entered, left] = [bytes.lastIndexOf(enterAltScreen), bytes.lastIndexOf(leaveAltScreen)];
    if (entered !== left) return entered > left;
    if (from === head) break;
    to = from + enterAltScreen.length - 1; // The sequence may span two slices.
    await pause();
  }
  return null;
}
