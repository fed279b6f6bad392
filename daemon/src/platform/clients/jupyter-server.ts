/** Client of a Jupyter server: its kernels over HTTP, and the messages of each kernel over a WebSocket. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Notifier } from '../../kit/events/notifier.ts';

/** The messages of one kernel; the server buffers messages while no client is connected. */
export interface KernelSocket {
  readonly isOpen: boolean;
  /** True once the connection has closed, or when it could not be opened. */
  readonly isClosed: boolean;
  send(message: string): void;
  /** Resolves when the socket has opened or closed, or when the signal aborts. */
  changed(signal?: AbortSignal): Promise<void>;
  close(): void;
}

export interface ServerKernel {
  readonly name: string;
  readonly language: string;
}

export interface ServerLook {
  /** Why the server cannot be used, in one sentence; null when it answers. */
  readonly problem: string | null;
  /** Python kernels first, with the default kernel at the front of them. */
  readonly kernels: readonly ServerKernel[];
}

/** The server answered with an error status. */
class JupyterRefusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Rethrows other errors, such as those of a server that does not answer. */
function asRefusal(error: unknown): JupyterRefusal {
  if (error instanceof JupyterRefusal) return error;
  throw error;
}

const requestMs = 10_000;
const againMs = 200;
const interruptMs = 2000;
/** An absent server refuses the connection at once, so this is long enough for a busy server to count as present. */
const reachMs = 2000;
const reachedForMs = 5000;
/** The server may be back within moments. */
const awayForMs = 1000;
/** Of a frame with buffers. */
const headBytes = 12;

export class JupyterServer {
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;
  #reached: { readonly untilMs: number; readonly look: Promise<ServerLook> } | null = null;

  constructor(endpoint: string) {
    const url = new URL(endpoint);
    const authorization = authorizationIn(url);
    url.search = url.username = url.password = '';
    this.#base = url.href.replace(/\/$/, '');
    this.#headers = authorization === null ? {} : { authorization };
  }

  /** The address of the server, without its key. */
  get address(): string {
    return this.#base;
  }

  /** The kernels of the server, at most 5 s old. */
  async look(): Promise<ServerLook> {
    if (this.#reached && performance.now() < this.#reached.untilMs) return await this.#reached.look;
    const look = this.#look();
    this.#reached = { untilMs: performance.now() + reachedForMs, look };
    if ((await look).problem !== null) this.#reached = { untilMs: performance.now() + awayForMs, look };
    return await look;
  }

  /** Starts the named kernel, or the default one, and returns its id. Rejects with the server's error. */
  async start(name: string | null): Promise<string> {
    const body = JSON.stringify(name === null ? {} : { name });
    const started = (await (await this.#ask('POST', '/api/kernels', { body })).json()) as { id?: string };
    if (started.id === undefined) throw new Error(`${this.address} has started a kernel without an id`);
    return started.id;
  }

  async has(id: string): Promise<boolean> {
    return await this.#ask('GET', `/api/kernels/${id}`).then(
      () => true,
      () => false, // Whatever the reason, this kernel cannot be used any more.
    );
  }

  async interrupt(id: string): Promise<void> {
    await this.#ask('POST', `/api/kernels/${id}/interrupt`, { withinMs: interruptMs });
  }

  /** Resolves when the kernel has ended or does not exist. The server completes the request even after `withinMs`. */
  async end(id: string, withinMs: number): Promise<void> {
    for (const giveUpMs = performance.now() + withinMs; ;) {
      const leftMs = Math.max(1, giveUpMs - performance.now());
      const refusal = await this.#ask('DELETE', `/api/kernels/${id}`, { withinMs: leftMs }).then(() => null, asRefusal);
      // A server cannot end a kernel while it restarts that kernel.
      if (refusal === null || refusal.status < 500 || leftMs < againMs) return;
      await sleep(againMs);
    }
  }

  connect(id: string, session: string, onMessage: (message: string) => void): KernelSocket {
    const url = `${this.#base.replace(/^http/, 'ws')}/api/kernels/${id}/channels?session_id=${session}`;
    const socket = new WebSocket(url, { headers: this.#headers });
    socket.binaryType = 'arraybuffer';
    const changes = new Notifier();
    socket.addEventListener('message', ({ data }) => onMessage(textOf(data as string | ArrayBuffer)));
    for (const event of ['open', 'close', 'error']) socket.addEventListener(event, () => changes.notify());
    return {
      get isOpen() {
        return socket.readyState === WebSocket.OPEN;
      },
      get isClosed() {
        return socket.readyState === WebSocket.CLOSING || socket.readyState === WebSocket.CLOSED;
      },
      send: (message) => socket.send(message),
      changed: (signal) => changes.wait(signal),
      close: () => socket.close(),
    };
  }

  async #look(): Promise<ServerLook> {
    try {
      const response = await this.#ask('GET', '/api/kernelspecs', { withinMs: reachMs });
      return { problem: null, kernels: inOrder((await response.json()) as Kernelspecs) };
    } catch (error) {
      const isKeyWrong = error instanceof JupyterRefusal && (error.status === 401 || error.status === 403);
      const problem = isKeyWrong
        ? `the Jupyter server at ${this.address} does not take the token of SVC_JUPYTER_ENDPOINT (${error.status})`
        : `no Jupyter server answers at ${this.address}`;
      return { problem, kernels: [] };
    }
  }

  async #ask(method: string, path: string, { body = '', withinMs = requestMs } = {}): Promise<Response> {
    const response = await fetch(`${this.#base}${path}`, {
      method,
      headers: this.#headers,
      keepalive: false, // Requests are too rare to keep a connection open.
      signal: AbortSignal.timeout(withinMs),
      ...(body !== '' && { body }),
    });
    if (response.ok) return response;
    const said = (await response.text()).slice(0, 300);
    throw new JupyterRefusal(response.status, `${this.address}${path} answers ${response.status}: ${said}`);
  }
}

/** The key in the address, as a token or as a user name with a password. */
function authorizationIn({ searchParams, username, password }: URL): string | null {
  const token = searchParams.get('token');
  if (token !== null) return `token ${token}`;
  if (username === '') return null;
  return `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')}`;
}

/** Decodes percent escapes; a lone percent sign stays as it is and does not fail. */
function decoded(text: string): string {
  return new URLSearchParams(`text=${text.replaceAll('+', '%2B')}`).get('text') ?? '';
}

/** The body of `GET /api/kernelspecs`. */
interface Kernelspecs {
  readonly default: string;
  readonly kernelspecs: Readonly<Record<string, { readonly spec?: { readonly language?: string } }>>;
}

function inOrder({ default: usual, kernelspecs }: Kernelspecs): readonly ServerKernel[] {
  const all = Object.entries(kernelspecs).map(([name, { spec }]) => ({ name, language: spec?.language ?? '' }));
  const rank = ({ name, language }: ServerKernel) => (language === 'python' ? 0 : 2) + (name === usual ? 0 : 1);
  return all.toSorted((a, b) => rank(a) - rank(b));
}

/**
 * Byte buffers arrive in one frame: their number, their offsets, and the JSON as the first buffer. A frame that is
 * shorter than its head has no text, and so it is not a message.
 */
function textOf(data: string | ArrayBuffer): string {
  if (typeof data === 'string') return data;
  const view = new DataView(data);
  if (view.byteLength < headBytes) return '';
  const [from, to] = view.getUint32(0) > 1 ? [view.getUint32(4), view.getUint32(8)] : [view.getUint32(4)];
  return new TextDecoder().decode(data.slice(from, to));
}
