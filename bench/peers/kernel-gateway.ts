/** Measures Jupyter Kernel Gateway: kernels by REST, cells over a WebSocket in the newest wire format. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { virtualEnvironment } from '../install.ts';
import { freePort, launch } from '../launch.ts';
import type { Limit } from '../limit.ts';
import { quickAcks } from '../quick-acks.ts';
import { within } from '../within.ts';
import { python, type CodeServer, type CodeSession } from './code.ts';
import { decode, encode, subprotocol, type JupyterMessage } from './jupyter-frames.ts';

const release = 'jupyter_kernel_gateway==3.0.1';
const ipykernel = 'ipykernel==7.4.0';
const answerWithinMs = 60_000;

/** Spare kernels. The gateway starts them at its own start only. */
export interface GatewayOptions {
  readonly spare: number;
}

/** The directory whose `python3` has the gateway's ipykernel. With it on PATH, boxkeep starts the same kernel. */
export function kernelPrograms(): string {
  const place = virtualEnvironment({
    name: `${release},${ipykernel}`,
    packages: [ipykernel, release],
    program: 'jupyter-kernelgateway',
  });
  return join(place, 'bin');
}

export async function openKernelGateway(limit: Limit | null, { spare }: GatewayOptions): Promise<CodeServer> {
  const programs = kernelPrograms();
  // A separate history, because writes of the account's other kernels to a shared history would block these kernels.
  const directory = mkdtempSync(join(tmpdir(), 'boxkeep-bench-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = await launch(
    {
      command: [
        join(programs, 'jupyter-kernelgateway'),
        `--KernelGatewayApp.port=${port}`,
        `--KernelGatewayApp.prespawn_count=${spare}`,
        '--JupyterWebsocketPersonality.list_kernels=True',
        // With the limit, the gateway drops output faster than a megabyte a second.
        '--ZMQChannelsWebsocketConnection.limit_rate=False',
      ],
      serving: /Jupyter Kernel Gateway .*is available at|Jupyter Kernel Gateway at/,
      logsTo: 'stderr',
      url: () => `${url}/api`,
      environment: { PATH: `${programs}:${process.env['PATH']}`, IPYTHONDIR: directory },
    },
    limit,
  );
  const taken = new Set<string>();
  return {
    name: 'gateway',
    language: python,
    pids: [server.pid],
    async openSession() {
      const waiting = spare > 0 ? await askKernels(url) : [];
      const id = waiting.find((one) => !taken.has(one)) ?? (await startKernel(url));
      taken.add(id);
      return GatewaySession.open(url, id);
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

interface KernelRecord {
  readonly id: string;
}

async function askKernels(url: string): Promise<string[]> {
  const response = await fetch(`${url}/api/kernels`);
  return ((await response.json()) as KernelRecord[]).map(({ id }) => id);
}

async function startKernel(url: string): Promise<string> {
  const response = await fetch(`${url}/api/kernels`, { method: 'POST', body: '{}' });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return ((await response.json()) as KernelRecord).id;
}

/** The running cell. As in every Jupyter client, it is over when the kernel has replied and is idle again. */
interface RunningCell {
  readonly id: string;
  printed: string;
  hasReply: boolean;
  isIdle: boolean;
  readonly done: PromiseWithResolvers<string>;
}

class GatewaySession implements CodeSession {
  #cell: RunningCell | null = null;

  private constructor(
    private readonly socket: WebSocket,
    private readonly kernelUrl: string,
    private readonly acknowledge: () => void,
  ) {
    socket.onmessage = ({ data }) => {
      this.acknowledge();
      this.#take(decode(data as Buffer));
    };
    socket.onclose = () => this.#cell?.done.reject(new Error(`${kernelUrl}: the socket was closed`));
  }

  static async open(url: string, kernel: string): Promise<GatewaySession> {
    const address = `${url}/api/kernels/${kernel}`;
    const socket = new WebSocket(`${address.replace('http', 'ws')}/channels?session_id=${crypto.randomUUID()}`, [
      subprotocol,
    ]);
    socket.binaryType = 'nodebuffer';
    const opened = new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = reject;
    });
    await within(answerWithinMs, `a socket to ${address}`, opened);
    return new GatewaySession(socket, address, quickAcks(Number(new URL(url).port)));
  }

  async run(code: string): Promise<string> {
    const id = crypto.randomUUID();
    const cell = { id, printed: '', hasReply: false, isIdle: false, done: Promise.withResolvers<string>() };
    this.#cell = cell;
    this.socket.send(encode('shell', id, 'execute_request', execution(code)));
    this.acknowledge();
    return within(answerWithinMs, `a cell of ${this.kernelUrl}`, cell.done.promise);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.onclose = null;
    this.socket.close();
    await fetch(this.kernelUrl, { method: 'DELETE' }).then((response) => response.arrayBuffer());
  }

  #take({ type, answers, content }: JupyterMessage): void {
    const cell = this.#cell;
    if (cell === null || answers !== cell.id) return;
    if (type === 'stream') cell.printed += content().text;
    else if (type === 'error') cell.done.reject(new Error(`${this.kernelUrl}: ${content().evalue}`));
    else if (type === 'execute_reply') cell.hasReply = true;
    else if (type === 'status') cell.isIdle = content().execution_state === 'idle';
    if (cell.hasReply && cell.isIdle) cell.done.resolve(cell.printed);
  }
}

function execution(code: string): object {
  return { code, silent: false, store_history: true, user_expressions: {}, allow_stdin: false, stop_on_error: true };
}
