/** A Jupyter server somewhere: its kernels over HTTP, and the messages of each over a WebSocket. */
import { Notifier } from '../kit/notifier.ts';

/** The messages of one kernel; the server keeps what comes while nobody is connected. */
export interface KernelSocket {
  readonly isOpen: boolean;
  send(message: string): void;
  /** Resolves when it has opened or closed, or the signal aborts. */
  changed(signal?: AbortSignal): Promise<void>;
  close(): void;
}

const requestMs = 10_000;
/** A server that is away must not hold up those who can do without it. */
const reachMs = 300;
const reachedForMs = 5000;

export class JupyterServer {
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;
  #reached: { readonly atMs: number; readonly kernels: Promise<readonly string[] | null> } | null = null;

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

  /** The names of its kernels, the default one first; null when it cannot be reached. Known for 5 s. */
  async kernels(): Promise<readonly string[] | null> {
    const known = this.#reached;
    if (known && performance.now() - known.atMs < reachedForMs) return await known.kernels;
    const kernels = this.#lookForKernels();
    this.#reached = { atMs: performance.now(), kernels };
    return await kernels;
  }

  /** Answers its id. Rejects with what the server has said. */
  async start(name: string | null): Promise<string> {
    const body = JSON.stringify(name === null ? {} : { name });
    const started = (await (await this.#ask('POST', '/api/kernels', body)).json()) as { id?: string };
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
    await this.#ask('POST', `/api/kernels/${id}/interrupt`);
  }

  async end(id: string): Promise<void> {
    await this.#ask('DELETE', `/api/kernels/${id}`);
  }

  connect(id: string, session: string, onMessage: (message: string) => void): KernelSocket {
    const url = `${this.#base.replace(/^http/, 'ws')}/api/kernels/${id}/channels?session_id=${session}`;
    const socket = new WebSocket(url, { headers: this.#headers });
    const changes = new Notifier();
    socket.addEventListener('message', ({ data }) => onMessage(String(data)));
    for (const event of ['open', 'close', 'error']) socket.addEventListener(event, () => changes.notify());
    return {
      get isOpen() {
        return socket.readyState === WebSocket.OPEN;
      },
      send: (message) => socket.send(message),
      changed: (signal) => changes.wait(signal),
      close: () => socket.close(),
    };
  }

  async #lookForKernels(): Promise<readonly string[] | null> {
    try {
      const response = await this.#ask('GET', '/api/kernelspecs', null, reachMs);
      const { default: first, kernelspecs } = (await response.json()) as { default: string; kernelspecs: object };
      return [first, ...Object.keys(kernelspecs).filter((name) => name !== first)];
    } catch {
      return null; // It is not there, or not for us: others run the code.
    }
  }

  async #ask(method: string, path: string, body: string | null = null, withinMs = requestMs): Promise<Response> {
    const response = await fetch(`${this.#base}${path}`, {
      method,
      headers: this.#headers,
      signal: AbortSignal.timeout(withinMs),
      ...(body !== null && { body }),
    });
    if (response.ok) return response;
    throw new Error(`${this.address}${path} answers ${response.status}: ${(await response.text()).slice(0, 300)}`);
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
