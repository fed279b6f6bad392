/** Creates identifiers that sort by creation time and are unique across restarts. */
import { randomBytes } from './crypto.ts';

/** A prefix, the time in base 36 and 40 random bits: `cmd_mi2f0kq1_5f0c9a71be`. */
export function mintId(prefix: string, nowMs: number = Date.now()): string {
  return `${prefix}_${nowMs.toString(36)}_${randomBytes(5).toString('hex')}`;
}

/** Ids that clients choose: safe in a path, in a file name and in a log line (contract, house rules). */
export const clientIdPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
