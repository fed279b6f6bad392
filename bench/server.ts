/** Starts a server under measurement, waits until it says where it serves, and ends it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface BenchServer extends AsyncDisposable {
  readonly url: string;
  /** The process that serves, not its launcher. */
  readonly pid: number;
  /** From the start of the process to the first answer of /health; null where it has none. */
  readonly startMs: number;
}

const root = join(import.meta.dirname, '..');

/** The built daemon, at rest beside nothing else. */
export async function startSandboxd(): Promise<BenchServer> {
  const directory = mkdtempSync(join(tmpdir(), 'sandboxd-bench-'));
  const flags = ['start', '--port', '0', '--runtime-dir', join(directory, 'runtime'), '--log-level', 'info'];
  const server = await startServer([join(root, 'dist/sandboxd'), ...flags]);
  return {
    ...server,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The same runtime, spawning directly. */
export function startDirect(): Promise<BenchServer> {
  return startServer([join(root, 'node_modules/.bin/bun'), join(root, 'bench/baseline/direct.ts')]);
}

async function startServer(command: readonly string[]): Promise<BenchServer> {
  const startedMs = performance.now();
  const child = Bun.spawn([...command], { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' });
  const reader = child.stdout.getReader();
  let text = '';
  while (!text.includes('"serving"')) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`${command[0]} ended before it served: ${text}`);
    text += new TextDecoder().decode(value);
  }
  const line = JSON.parse(text.split('\n').find((part) => part.includes('"serving"')) ?? '{}') as {
    url: string;
    pid: number;
  };
  await fetch(`${line.url}/health`).then((response) => response.arrayBuffer());
  const startMs = performance.now() - startedMs;
  void drain(reader);
  return {
    ...line,
    startMs,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await child.exited;
    },
  };
}

/** The log goes on; an unread pipe would stop the server. */
async function drain(reader: { read(): Promise<{ done: boolean }> }): Promise<void> {
  while (!(await reader.read()).done) continue;
}
