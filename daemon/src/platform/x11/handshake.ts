/** Opens a socket to an X server and exchanges the setup messages, within a deadline. */
import { untilAborted } from '../../kit/shared-work.ts';
import { X11Unreachable } from '../../protocols/x11-errors.ts';
import { parseDisplayName, type DisplayAddress } from './address.ts';
import { findCookie } from './authority.ts';
import type { Message } from './message.ts';
import { readSetup, setupRequest, type DisplaySetup } from './setup.ts';
import { DisplaySocket, type SocketObserver } from './socket.ts';

export interface DisplaySpec {
  /** Value of the variable DISPLAY; null when unset. */
  readonly name: string | null;
  /** Value of the variable XAUTHORITY; null selects the file in the home directory. */
  readonly authority: string | null;
  /** The connection and the first answers may take this long together. */
  readonly withinMs: number;
}

export interface Greeting {
  readonly socket: DisplaySocket;
  readonly setup: DisplaySetup;
  /** Receives the events of the socket; the caller replaces the observer. */
  readonly relay: Relay;
}

export class Relay implements SocketObserver {
  constructor(public observer: SocketObserver) {}

  onMessage(message: Message): void {
    this.observer.onMessage(message);
  }

  onClose(reason: string): void {
    this.observer.onClose(reason);
  }
}

/** Throws `X11Unreachable`, also when the signal fires first. */
export async function greet({ name, authority }: DisplaySpec, signal: AbortSignal): Promise<Greeting> {
  if (name === null || name === '') throw new X11Unreachable('DISPLAY is not set');
  const address = parseDisplayName(name);
  if (!address) throw new X11Unreachable(`DISPLAY=${name.slice(0, 100)} is not the name of a display`);
  const { promise: first, resolve, reject } = Promise.withResolvers<Message>();
  first.catch(() => undefined); // The race below reports the failure.
  const relay = new Relay({ onMessage: resolve, onClose: (reason) => reject(new X11Unreachable(reason)) });
  const opening = openSocket(address, authority, relay);
  try {
    const message = await untilAborted(Promise.race([first, opening.then(() => first)]), signal);
    return { socket: await opening, setup: readSetup(message), relay };
  } catch (error) {
    void opening.then(
      (socket) => socket.close(),
      () => undefined, // There is no socket to close.
    );
    throw signal.aborted ? new X11Unreachable('the X server did not answer in time') : error;
  }
}

async function openSocket(address: DisplayAddress, authority: string | null, relay: Relay): Promise<DisplaySocket> {
  const cookie = await findCookie(authority, address);
  const socket = await DisplaySocket.open(address, relay);
  socket.write(setupRequest(cookie));
  return socket;
}
