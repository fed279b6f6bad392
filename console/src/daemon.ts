/** The daemon that served this page: its routes, with the key where one is set. */
import type { Key } from './key.ts';

/** What the page reads of a terminal session (`spec/v2.json`, TerminalSession). */
export interface TerminalRecord {
  readonly session_id: string;
  readonly status: 'ready' | 'running' | 'terminated';
  readonly working_dir: string;
  readonly user: string;
  readonly title: string | null;
  readonly current_command: string | null;
  readonly exit_code: number | null;
}

/** What the daemon says it cannot do, in its own words. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly hint: string | null,
  ) {
    super(message);
  }
}

interface Envelope {
  readonly success: boolean;
  readonly message: string;
  readonly data: unknown;
  readonly hint: string | null;
}

const protocol = 'svc.v2';

export class DaemonClient {
  /** The daemon may be behind a prefix of a gateway. */
  readonly #base = new URL('.', location.href);

  constructor(private readonly key: Key) {}

  async version(): Promise<string> {
    return ((await this.#ask('GET', 'health')) as { version: string }).version;
  }

  async listTerminals(): Promise<TerminalRecord[]> {
    const { sessions } = (await this.#ask('GET', 'v2/pty/sessions')) as { sessions: Record<string, TerminalRecord> };
    return Object.values(sessions);
  }

  async createTerminal(): Promise<TerminalRecord> {
    return (await this.#ask('POST', 'v2/pty/sessions', {})) as TerminalRecord;
  }

  async terminal(id: string): Promise<TerminalRecord> {
    return (await this.#ask('GET', terminalPath(id))) as TerminalRecord;
  }

  async closeTerminal(id: string): Promise<void> {
    await this.#ask('DELETE', terminalPath(id));
  }

  /** In the binary protocol: output comes as it is. */
  attach(id: string, query: Readonly<Record<string, string>>): WebSocket {
    const url = new URL(`${terminalPath(id)}/ws`, this.#base);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    url.search = new URLSearchParams({ protocol: 'binary', ...query }).toString();
    const key = this.key.value;
    const socket = new WebSocket(url, key === null ? [protocol] : [protocol, `svc.key.${base64Url(key)}`]);
    socket.binaryType = 'arraybuffer';
    return socket;
  }

  async #ask(method: string, path: string, body?: object): Promise<unknown> {
    const headers = new Headers();
    if (this.key.value !== null) headers.set('authorization', `Bearer ${this.key.value}`);
    if (body) headers.set('content-type', 'application/json');
    const response = await fetch(new URL(path, this.#base), {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const envelope = (await response.json()) as Envelope;
    if (!response.ok) throw new Refusal(response.status, envelope.message, envelope.hint);
    return envelope.data;
  }
}

function terminalPath(id: string): string {
  return `v2/pty/sessions/${encodeURIComponent(id)}`;
}

function base64Url(text: string): string {
  const bytes = String.fromCharCode(...new TextEncoder().encode(text));
  return btoa(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}
