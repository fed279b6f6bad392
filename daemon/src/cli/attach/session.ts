/** Finds or creates the session to attach to. The client chooses the id, so it can repeat a lost request. */
import { randomBytes } from '../../kit/crypto.ts';
import type { Arguments } from '../arguments.ts';
import { Backoff } from '../client/backoff.ts';
import { answerWithinMs, type Client } from '../client/client.ts';
import { ClientFailure, Refusal, Unreachable } from '../client/failure.ts';
import { Deadline } from '../../kit/deadline.ts';
import type { Environment } from '../../kit/types/environment.ts';
import type { Fields } from '../../kit/types/fields.ts';
import type { TerminalSize } from '../../kit/types/terminal-size.ts';
import { variable } from '../variable.ts';
import { number, text } from '../client/wire.ts';

/** Within this time, a daemon that died during the request is back. */
const withinMs = 10_000;

export interface Found {
  readonly id: string;
  /** True when the session, or its shell, was just created. */
  readonly isNew: boolean;
  /** The size that a client keeps which only looks on; null where the session takes the size of this terminal. */
  readonly keptSize: TerminalSize | null;
}

export async function findSession(
  client: Client,
  given: Arguments,
  size: TerminalSize | null,
  environment: Environment,
): Promise<Found> {
  const name = given.words[1] ?? null;
  const known = name === null ? null : await recordOf(client, name);
  const status = known && text(known['status']);
  const isReadOnly = given.has('read-only');
  if (isReadOnly && (name === null || known === null)) {
    throw new ClientFailure(name === null ? '--read-only needs a session to look at' : `there is no session ${name}`);
  }
  if (name !== null && known !== null && (isReadOnly || status !== 'terminated')) {
    const keptSize = isReadOnly ? { cols: number(known['cols']), rows: number(known['rows']) } : null;
    return { id: name, isNew: false, keptSize };
  }
  const optional: [string, unknown][] = [
    ['cwd', given.value('cwd')],
    ['user', given.value('user')],
    // A session without a name expires when no client has used it for a long time.
    ['retention', name === null ? 'expiring' : null],
  ];
  const id = name ?? `attach-${randomBytes(4).toString('hex')}`;
  const env = Object.fromEntries(given.all('env').map((each) => variable(each, environment)));
  const wanted = Object.fromEntries(optional.filter(([, value]) => value !== null));
  const isNew = await create(client, { id, env, ...size, ...wanted });
  return { id, isNew, keptSize: null };
}

/** null when no such session exists. */
async function recordOf(client: Client, id: string): Promise<Fields | null> {
  using deadline = new Deadline(answerWithinMs);
  try {
    return await client.call('GET', `/v2/pty/sessions/${encodeURIComponent(id)}`, null, deadline.signal);
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return null;
    throw error;
  }
}

/** False when another client has created the session meanwhile, with other values. */
async function create(client: Client, body: Fields): Promise<boolean> {
  using deadline = new Deadline(withinMs);
  const backoff = new Backoff();
  let isMaybeMade = false;
  for (;;) {
    try {
      await client.call('POST', '/v2/pty/sessions', body, deadline.signal);
      return true;
    } catch (error) {
      if (error instanceof Refusal && error.status === 409) return false;
      if (!(error instanceof Unreachable)) throw error;
      isMaybeMade ||= error.isMaybeSent;
      if (!isMaybeMade || deadline.passed) throw error;
    }
    await backoff.wait(deadline.signal);
  }
}
