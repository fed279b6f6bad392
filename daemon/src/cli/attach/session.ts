/** Finds or creates the session to attach to. The client chooses the id, so it can repeat a lost request. */
import {
  BoxError,
  type TerminalCreateRequest,
  type TerminalSession,
} from '../../../../clients/typescript/src/index.ts';
import { randomBytes } from '../../kit/crypto.ts';
import type { Environment } from '../../kit/types/environment.ts';
import type { TerminalSize } from '../../kit/types/terminal-size.ts';
import type { Arguments } from '../arguments.ts';
import { madeOnce, type Client } from '../client/client.ts';
import { ClientFailure } from '../client/failure.ts';
import { variable } from '../variable.ts';

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
  const name = given.words[0] ?? null;
  const known = name === null ? null : await recordOf(client, name);
  const isReadOnly = given.has('read-only');
  if (isReadOnly && (name === null || known === null)) {
    throw new ClientFailure(name === null ? '--read-only needs a session to look at' : `there is no session ${name}`);
  }
  if (name !== null && known !== null && (isReadOnly || known.status !== 'terminated')) {
    const keptSize = isReadOnly ? { cols: known.cols, rows: known.rows } : null;
    return { id: name, isNew: false, keptSize };
  }
  const id = name ?? `attach-${randomBytes(4).toString('hex')}`;
  const [cwd, user] = [given.value('cwd'), given.value('user')];
  const isNew = await create(client, {
    id,
    env: Object.fromEntries(given.all('env').map((each) => variable(each, environment))),
    ...size,
    ...(cwd !== null && { cwd }),
    ...(user !== null && { user }),
    // A session without a name expires when no client has used it for a long time.
    ...(name === null && { retention: 'expiring' }),
  });
  return { id, isNew, keptSize: null };
}

/** null when no such session exists. */
async function recordOf(client: Client, id: string): Promise<TerminalSession | null> {
  try {
    return (await client.answer((options) => client.sandbox.terminals.get(id, options))).data;
  } catch (error) {
    if (error instanceof BoxError && error.status === 404) return null;
    throw error;
  }
}

/** False when another client has created the session meanwhile, with other values. */
async function create(client: Client, body: TerminalCreateRequest): Promise<boolean> {
  try {
    await client.answer((options) => client.sandbox.terminals.create(body, options), madeOnce);
    return true;
  } catch (error) {
    if (error instanceof BoxError && error.status === 409) return false;
    throw error;
  }
}
