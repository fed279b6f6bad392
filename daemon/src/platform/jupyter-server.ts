/** A Jupyter server somewhere: its kernels over HTTP, and the messages of each over a WebSocket. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Notifier } from '../kit/notifier.ts';

/** The messages of one kernel; the server keeps what comes while nobody is connected. */
export interface KernelSocket {
  readonly isOpen: boolean;
  /** It is over, or never came to be. */
  readonly isClosed: boolean;
  send(message: string): void;
  /** Resolves when it has opened or closed, or the signal aborts. */
  changed(signal?: AbortSignal): Promise<void>;
  close(): void;
}

export interface ServerKernel {
  readonly name: string;
  readonly language: string;
}

export interface ServerLook {
  /** Why nothing can be had of it, in one sentence; null where it answers. */
  readonly problem: string | null;
  /** Those of Python first, of these the default one. */
  readonly kernels: readonly ServerKernel[];
}

/** What the server has said instead of doing it. */
class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Other errors, of a server that does not answer, are thrown on. */
function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  throw error;
}

const requestMs = 10_000;
const againMs = 200;
const interruptMs = 2000;
/** Who is not there refuses at once; one that is busy must not be taken for one that is away. */
const reachMs = 2000;
const reachedForMs = 5000;
/** It may be back the next moment. */
const awayForMs = 1000;

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

  /** Its address, without the key. */
  get address(): string {
    return this.#base;
  }

  /** Its kernels, as they were within the last 5 s. */
  async look(): Promise<ServerLook> {
    if (this.#reached && performance.now() < this.#reached.untilMs) return await this.#reached.look;
    const look = this.#look();
    this.#reached = { untilMs: performance.now() + reachedForMs, look };
    if ((await look).problem !== null) this.#reached = { untilMs: performance.now() + awayForMs, look };
    return await look;
  }

  /** Starts a kernel, the default one where none is named, and answers its id. Rejects with what the server has said. */
  async start(name: string | null): Promise<string> {
    const body = JSON.stringify(name === null ? {} : { name });
    const started = (await (await this.#ask('POST', '/api/kernels', { body })).json()) as { id?: string };
    if (started.id === undefined) throw new Error(`${this.address} has started a kernel without an id`);
    return started.id;
  }

  /** False when there is none of that id. */
  async has(id: string): Promise<boolean> {
    return await this.#ask('GET', `/api/kernels/${id}`).then(
      () => true,
      () => false, // Whatever the reason, it is no kernel to go on with.
    );
  }

  async interrupt(id: string): Promise<void> {
    await this.#ask('POST', `/api/kernels/${id}/interrupt`, { withinMs: interruptMs });
  }

  /** Resolves when it has ended, or is not there. What was asked holds, also when it takes longer than this. */
  async end(id: string, withinMs: number): Promise<void> {
    for (const giveUpMs = performance.now() + withinMs; ;) {
      const leftMs = Math.max(1, giveUpMs - performance.now());
      const refusal = await this.#ask('DELETE', `/api/kernels/${id}`, { withinMs: leftMs }).then(() => null, asRefusal);
      // A server cannot end a kernel that it starts again at that moment.
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
      const isKeyWrong = error instanceof Refusal && (error.status === 401 || error.status === 403);
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
      keepalive: false, // Nothing is asked often enough for a connection to be kept.
      signal: AbortSignal.timeout(withinMs),
      ...(body !== '' && { body }),
    });
    if (response.ok) return response;
    const said = (await response.text()).slice(0, 300);
    throw new Refusal(response.status, `${this.address}${path} answers ${response.status}: ${said}`);
  }
}

/** The key that an address carries, as a token or as a name with a password. */
function authorizationIn({ searchParams, username, password }: URL): string | null {
  const token = searchParams.get('token');
  if (token !== null) return `token ${token}`;
  if (username === '') return null;
  return `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')}`;
}

/** Without a failure for a percent sign that stands for itself. */
function decoded(text: string): string {
  return new URLSearchParams(`text=${text.replaceAll('+', '%2B')}`).get('text') ?? '';
}

/** What `/api/kernelspecs` answers. */
interface Kernelspecs {
  readonly default: string;
  readonly kernelspecs: Readonly<Record<string, { readonly spec?: { readonly language?: string } }>>;
}

function inOrder({ default: usual, kernelspecs }: Kernelspecs): readonly ServerKernel[] {
  const all = Object.entries(kernelspecs).map(([name, { spec }]) => ({ name, language: spec?.language ?? '' }));
  const rank = ({ name, language }: ServerKernel) => (language === 'python' ? 0 : 2) + (name === usual ? 0 : 1);
  return all.toSorted((a, b) => rank(a) - rank(b));
}

/** A message with buffers of bytes comes as one: their number, where each begins, and the JSON as the first of them. */
function textOf(data: string | ArrayBuffer): string {
  if (typeof data === 'string') return data;
  const view = new DataView(data);
  const [from, to] = view.getUint32(0) > 1 ? [view.getUint32(4), view.getUint32(8)] : [view.getUint32(4)];
  return new TextDecoder().decode(data.slice(from, to));
}
