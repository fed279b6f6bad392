/** Follows the output of a command to its end, reports an outage of the daemon, and says how to go on after one. */
import {
  BoxError,
  type CommandHandle,
  type Offsets,
  type OutputEvent,
} from '../../../../clients/typescript/src/index.ts';
import type { Arguments } from '../arguments.ts';
import type { Client } from './client.ts';
import { ClientFailure } from './failure.ts';
import { say } from './standard-streams.ts';

export interface FollowOptions {
  /** The offsets to start from; they advance as output is yielded. */
  readonly offsets: Offsets;
  /** How long the daemon may be away before the client gives up. */
  readonly reconnectMs: number;
  readonly signal?: AbortSignal;
}

/** How long a daemon may be away when the user sets no limit. */
const defaultReconnectSeconds = 60;
/** A longer outage is reported to the user. */
export const noticeMs = 3000;

/** The value of --reconnect in ms. */
export function reconnectTime(given: Arguments): number {
  return (given.number('reconnect', 0) ?? defaultReconnectSeconds) * 1000;
}

/** Ends after `exit`. Throws a ClientFailure that reports the offsets to resume from. */
export async function* follow(
  client: Client,
  command: CommandHandle,
  { offsets, reconnectMs: retryMs, ...others }: FollowOptions,
): AsyncGenerator<OutputEvent> {
  const from = { ...offsets };
  try {
    for await (const event of command.events({ from, retryMs, onAway: outageReport(retryMs), ...others })) {
      if (event.type === 'gap') offsets[event.stream] = event.to;
      else if (event.type !== 'exit') offsets[event.type] = event.offset + event.bytes.length;
      yield event;
    }
  } catch (error) {
    throw error instanceof BoxError ? withPosition(error, client, command.id, offsets) : error;
  }
}

/** Reports each long outage once. */
export function outageReport(reconnectMs: number): (error: BoxError, sinceMs: number) => Promise<void> {
  let isReported = false;
  return async ({ message }, sinceMs) => {
    const isLong = sinceMs >= noticeMs;
    if (isLong && !isReported) await say(`${message}; trying for ${reconnectMs / 1000} s`);
    isReported = isLong;
  };
}

function withPosition({ message, status }: BoxError, client: Client, id: string, offsets: Offsets): ClientFailure {
  const position = `--offset ${offsets.stdout} --stderr-offset ${offsets.stderr}`;
  const advice =
    status === 404
      ? 'what it wrote and how it ended is not kept; a daemon that was stopped ends its commands'
      : `to go on: boxkeep logs ${client.address} ${id} -f ${position}`;
  return new ClientFailure(`${message}; ${advice}`);
}
