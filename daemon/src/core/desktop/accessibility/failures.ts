/** Turns failures of the buses and of applications into errors that say which part is missing. */
import { advise } from '../../../kit/advice.ts';
import { DbusClosed, DbusRefusal, DbusUnreachable } from '../../../protocols/dbus-errors.ts';
import { CoreError } from '../../../kit/errors.ts';

/** Errors of a bus whose peer does not exist. */
const goneNames = new Set(['ServiceUnknown', 'NameHasNoOwner', 'UnknownObject', 'UnknownMethod', 'UnknownInterface']);

/** True when a call has failed because its application or its object has gone. */
export function isGone(error: unknown): boolean {
  return error instanceof DbusRefusal && goneNames.has(error.errorName.split('.').at(-1) ?? '');
}

export function noSessionBus(): CoreError {
  return new CoreError('unavailable', 'there is no session bus: DBUS_SESSION_BUS_ADDRESS is not set', {
    isRetryable: false,
    hint: 'Start the desktop and the worker in one session, as in: dbus-run-session -- startxfce4.',
  });
}

export function noAccessibility({ message }: DbusRefusal): CoreError {
  return new CoreError('unavailable', `the session bus has no accessibility service: ${message}`, {
    hint: 'Install at-spi2-core, and start the session bus again.',
  });
}

export function busUnreachable(bus: 'session' | 'accessibility', { message }: Error): CoreError {
  return new CoreError('unavailable', `the ${bus} bus cannot be used: ${message}`, {
    hint: 'Start the worker in the session of the desktop, as the same account.',
  });
}

export function noApplications(): CoreError {
  return new CoreError('unavailable', 'there is nothing to read: no application has registered with AT-SPI', {
    hint: 'Start an application after the accessibility bus. Chromium needs --force-renderer-accessibility.',
  });
}

export function noForeground(reason: string): CoreError {
  return new CoreError('unavailable', `there is nothing to read in the foreground: ${reason}`, {
    hint: 'Pass scope=desktop to read all applications, or activate a window.',
  });
}

export function noAnswer(subject: string, withinMs: number): CoreError {
  return new CoreError('unavailable', `${subject} did not answer within ${withinMs / 1000} s`, {
    hint: 'The application may be busy.',
    advice: advise`Try again, or pass a larger ${'timeoutMs'}.`,
  });
}

/** Maps what a reading throws to a CoreError; returns other errors unchanged. */
export function readFailure(error: unknown, subject: string, isOver: boolean, withinMs: number): unknown {
  if (error instanceof CoreError) return error;
  if (isOver) return noAnswer(subject, withinMs);
  if (error instanceof DbusClosed || error instanceof DbusUnreachable) return busUnreachable('accessibility', error);
  if (error instanceof DbusRefusal) {
    return new CoreError('unavailable', `${subject} has refused: ${error.message}`, {
      hint: 'Read the accessibility tree again.',
    });
  }
  return error;
}
