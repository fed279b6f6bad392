/** Measures ttyd where it is on PATH: one shell per WebSocket, for the terminal rows only. */
import { launch } from '../launch.ts';
import type { TerminalServer } from './terminal.ts';

/** The first byte of a message is its kind. */
const output = 0x30;

export async function openTtyd(): Promise<TerminalServer | null> {
  const program = Bun.which('ttyd');
  if (program === null) return null;
  const server = await launch(
    {
      command: [program, '--interface', '127.0.0.1', '--port', '0', '--writable', 'bash', '--norc'],
      serving: /Listening on port: (\d+)/,
      logsTo: 'stderr',
      url: null,
    },
    null,
  );
  return {
    name: 'ttyd',
    pids: [server.pid],
    terminal: {
      newShell: () => Promise.resolve(`ws://127.0.0.1:${server.serving[1]}/ws`),
      protocols: ['tty'],
      hello: JSON.stringify({ AuthToken: '', columns: 80, rows: 24 }),
      input: (text) => Buffer.from(`0${text}`),
      outputOf: (frame) => (frame[0] === output ? frame.subarray(1) : null),
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
