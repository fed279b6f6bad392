/** The terminals of sandboxd: sessions that live without a socket, and sockets to them. */
import type { Sandboxd } from './sandboxd.ts';
import type { TerminalProtocol, TerminalServer } from './terminal.ts';

/** Of a socket in the binary protocol. */
export const plain: Omit<TerminalProtocol, 'newShell'> = {
  protocols: [],
  hello: null,
  input: (text) => Buffer.from(text),
  outputOf: (frame) => frame,
};

export function terminalsOf({ name, pids, url }: Sandboxd): TerminalServer {
  return {
    name,
    pids,
    terminal: { ...plain, newShell: async () => socketUrl(url, await newSession(url)) },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** Answers its id. */
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
