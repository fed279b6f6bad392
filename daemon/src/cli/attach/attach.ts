/** `boxkeep attach`: connects the local terminal to a terminal session of the sandbox. */
import { constants } from 'node:os';
import type { Terminal } from '../../../../clients/typescript/src/index.ts';
import type { TerminalSize } from '../../kit/types/terminal-size.ts';
import type { Arguments } from '../arguments.ts';
import { FollowedSession } from './follow.ts';
import { defaultDetachKeys, describeKeys, DetachKeys, readKeys } from './keys.ts';
import { LocalTerminal, note, sizeOf, type SystemTerminal } from './local.ts';
import { findSession, type Found } from './session.ts';
import { Client } from '../client/client.ts';
import { exitClientFailed, GivenUp } from '../client/failure.ts';
import { CaughtSignals } from '../client/signals.ts';
import { canHaveInput, readInput, standardError } from '../client/standard-streams.ts';
import { connectionHelp } from '../page.ts';
import type { Verb } from '../verb.ts';

const flags = {
  '--detach-key KEYS':
    'keys that detach and leave the session running, separated by commas: ctrl-] or ctrl-p,ctrl-q; default ctrl-\\,d, ' +
    'which is Ctrl-\\ and then d; none disables detaching by key',
  '--read-only': 'show the session without typing into it or changing its size',
  '--cwd DIR': 'directory of a new session; default: the workspace',
  '--user NAME': 'account of a new session',
  '--env NAME=VALUE': 'variable of a new session, repeatable; --env NAME copies the local value',
  '--offset BYTES': 'start at this byte of the output instead of the current screen',
  '--reconnect SECONDS': 'how long to wait for a daemon that does not answer; default 3600',
};

const details = `Without a name, attach creates a session that the daemon closes after an hour without use. With a new name, attach
creates a session that stays. Every key goes to the session, also Ctrl-C and Ctrl-Z, except the detach keys. When the
connection breaks, attach reconnects: output resumes at the same byte, and input typed meanwhile is sent then.

If standard input is not a terminal, attach types it unchanged and detaches at its end. With /dev/null, or with a
closed standard input, attach ends at once. With --read-only, attach does not read such input and shows the session
until the session ends. For scripts, use boxkeep exec, which waits until its command ends.
${connectionHelp}`;

const exits = '0 after a detach, otherwise that of the shell; 129, 130 or 143 after a signal, which also detaches';

const defaultReconnectSeconds = 3600;
const pieceBytes = 16 * 1024;
/** Bytes that may wait for a connection; beyond that, the keyboard is not read. */
const maxUnsentBytes = 64 * 1024;
/** How long attach holds back the first detach key before the key goes to the session. */
const nextKeyMs = 1500;

/** Flags that have an effect on a new session only. */
const ofNewSessions = ['cwd', 'user', 'env'];

export function attach(system: SystemTerminal): Verb {
  return {
    usage: 'attach [url] [session]',
    summary: 'connect this terminal to a session of a daemon',
    ...{ flags, details, exits },
    optionalWords: 1,
    async run(given, environment) {
      const keys = readKeys(given.value('detach-key') ?? defaultDetachKeys);
      const reconnectMs = (given.number('reconnect', 0) ?? defaultReconnectSeconds) * 1000;
      const offset = given.number('offset', 0);
      const client = new Client(given, environment);
      const found = await findSession(client, given, sizeOf(system), environment);
      const { id, isNew } = found;
      await greet(system, { ...found, isNamed: given.words.length > 0, keys });
      const unused = ofNewSessions.filter((name) => given.all(name).length > 0).map((name) => `--${name}`);
      if (!isNew && unused.length > 0) await note(`the session existed already: ${unused.join(' and ')} had no effect`);
      return await attend(system, client, { id, given, keys, offset: isNew ? (offset ?? 0) : offset, reconnectMs });
    },
  };
}

interface Greeting extends Found {
  readonly isNamed: boolean;
  readonly keys: Uint8Array;
}

async function greet(system: SystemTerminal, { id, isNew, isNamed, keptSize, keys }: Greeting): Promise<void> {
  const hasKeys = keys.length > 0 && system.isTerminal(0);
  const hint = hasKeys ? `; ${describeKeys(keys)} detaches` : '';
  const kind = isNamed ? '' : ', which is closed after an hour without use';
  if (isNew) await note(`new session ${id}${kind}${hint}`);
  else if (system.isTerminal(standardError)) await note(`session ${id}${sizeNote(system, keptSize)}${hint}`);
}

/** A screen of another size looks wrong in this terminal, for example because lines wrap. */
function sizeNote(system: SystemTerminal, kept: TerminalSize | null): string {
  const own = sizeOf(system);
  if (!kept || !own || (own.cols === kept.cols && own.rows === kept.rows)) return '';
  return `, which has ${kept.cols} columns and ${kept.rows} rows; this terminal has ${own.cols} and ${own.rows}`;
}

interface Wanted {
  readonly id: string;
  readonly given: Arguments;
  readonly keys: Uint8Array;
  readonly offset: number | null;
  readonly reconnectMs: number;
}

type Ending =
  | { readonly kind: 'ended'; readonly exitCode: number | null; readonly signal: string | null }
  | { readonly kind: 'detached' }
  | { readonly kind: 'signalled'; readonly signal: NodeJS.Signals };

/** Runs the session from the first byte to the last; the local terminal is restored when this resolves. */
async function attend(system: SystemTerminal, client: Client, wanted: Wanted): Promise<number> {
  const { ending, unsentBytes } = await atTerminal(system, client, wanted);
  return await reportEnding(ending, client, wanted.id, unsentBytes);
}

async function atTerminal(
  system: SystemTerminal,
  client: Client,
  { id, given, keys, offset, reconnectMs }: Wanted,
): Promise<{ readonly ending: Ending; readonly unsentBytes: number }> {
  using signals = new CaughtSignals();
  await using local = new LocalTerminal(system);
  const over = new AbortController();
  const isReadOnly = given.has('read-only');
  const followed = new FollowedSession(client, id, local, { isReadOnly, offset, reconnectMs });
  local.enter(() => followed.resize());
  const attached = followed.attach(over.signal);
  const shown = attached
    .then((terminal) => followed.toTheEnd(terminal))
    .then(({ exitCode, signal }): Ending => ({ kind: 'ended', exitCode, signal }));
  const typed = attached.then((terminal) => passTyped(terminal, { local, keys, isReadOnly }));
  const signalled = signals
    .next(over.signal)
    .then((signal): Ending => ({ kind: 'signalled', signal: signal ?? 'SIGTERM' }));
  try {
    const ending = await Promise.race([shown, typed, signalled]);
    return { ending, unsentBytes: followed.unsentBytes };
  } finally {
    over.abort();
    followed.detach();
    for (const task of [shown, typed, signalled]) task.catch(() => null); // The race reports only the first outcome.
  }
}

interface Typing {
  readonly local: LocalTerminal;
  readonly keys: Uint8Array;
  readonly isReadOnly: boolean;
}

/** Resolves when the user detaches or the input ends; never resolves when the input is not read. */
async function passTyped(terminal: Terminal, { local, keys, isReadOnly }: Typing): Promise<Ending> {
  const forever = new Promise<Ending>(() => undefined);
  if (isReadOnly && !local.isInput) return await forever;
  if (!canHaveInput()) return { kind: 'detached' };
  const detach = new DetachKeys(local.isInput ? keys : new Uint8Array());
  let written: Promise<unknown> = Promise.resolve();
  const pass = async (bytes: Uint8Array) => {
    if (isReadOnly || bytes.length === 0) return;
    written = terminal.write(bytes); // An event reports input that may be lost.
    if (terminal.unsentBytes > maxUnsentBytes) await written;
  };
  let releasing: ReturnType<typeof setTimeout> | undefined;
  for (;;) {
    const read = await readInput(pieceBytes);
    clearTimeout(releasing);
    if (read === null) break;
    const { bytes, isDetached } = detach.take(read);
    await pass(bytes);
    if (isDetached) return { kind: 'detached' };
    if (detach.isHolding) releasing = setTimeout(() => void pass(detach.release()), nextKeyMs);
  }
  if (local.isInput) return { kind: 'signalled', signal: 'SIGHUP' }; // The terminal was closed.
  await written;
  return { kind: 'detached' };
}

async function reportEnding(ending: Ending, { address }: Client, id: string, unsentBytes: number): Promise<number> {
  if (ending.kind === 'ended') {
    if (ending.signal !== null) return 128 + (constants.signals[ending.signal as NodeJS.Signals] ?? 0);
    if (ending.exitCode !== null) return ending.exitCode;
    await note(`session ${id} was closed`);
    return exitClientFailed;
  }
  const unsent = unsentBytes === 0 ? '' : `; ${unsentBytes} bytes of input were not sent`;
  await note(`detached from ${id}; boxkeep attach ${address} ${id} returns${unsent}`);
  if (ending.kind === 'detached') return 0;
  throw new GivenUp(`received ${ending.signal}`, 128 + constants.signals[ending.signal]);
}
