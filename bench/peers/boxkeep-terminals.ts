/** The terminals of boxkeep: sessions that live without a socket, and sockets attached to them. */
import type { Boxkeep } from './boxkeep.ts';
import type { TerminalProtocol, TerminalServer } from './terminal.ts';

/** The binary protocol of a socket. */
export const plain: Omit<TerminalProtocol, 'newShell'> = {
  protocols: [],
  hello: null,
  input: (text) => Buffer.from(text),
  outputOf: (frame) => frame,
};

export function terminalsOf({ name, pids, url }: Boxkeep): TerminalServer {
  return {
    name,
    pids,
    terminal: { ...plain, newShell: async () => socketUrl(url, await newSession(url)) },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** Returns the id of the session. */
export async function newSession(url: string): Promise<string> {
  const body = JSON.stringify({ env: { HOME: '/' } });
  const response = await fetch(`${url}/v2/pty/sessions`, { method: 'POST', body });
  const { data } = (await response.json()) as { data: { session_id: string } };
  return data.session_id;
}

export function socketUrl(url: string, id: string): string {
  return `${url.replace('http', 'ws')}/v2/pty/sessions/${id}/ws?protocol=binary`;
}

export async function readScreen(url: string, id: string): Promise<void> {
  const response = await fetch(`${url}/v2/pty/sessions/${id}/screen`);
  if (!response.ok) throw new Error(`the screen of ${id}: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}
