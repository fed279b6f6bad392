/** Measures how long the daemon works before it answers /health, whatever else keeps the machine busy. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot, type Sandbox } from './sandbox.ts';

/**
 * Runs `work` while another process asks for the health. Returns the most processor time that the main thread of the
 * daemon has used between a request and its answer, in ms. Another process asks, so that large bodies which this
 * process sends do not delay the measurement.
 */
export async function healthDuring(sandbox: Sandbox, work: () => Promise<unknown>): Promise<number> {
  const asking = Bun.spawn([process.execPath, import.meta.path, sandbox.url, String(sandbox.daemonPid)], {
    cwd: join(repositoryRoot, 'test'),
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  try {
    const output = asking.stdout.getReader();
    await output.read(); // The first answer has come.
    await work();
    await asking.stdin.end();
    const { value } = await output.read();
    if (value === undefined) throw new Error('a request for the health has failed; its reason is on standard error');
    return Number(new TextDecoder().decode(value));
  } finally {
    asking.kill('SIGKILL');
    await asking.exited;
  }
}

/** Asks until the input ends, then prints the result. */
async function ask(url: string, pid: string): Promise<void> {
  let isOver = false;
  void Bun.stdin.bytes().then(() => (isOver = true));
  const answered = async () => (await fetch(`${url}/health`)).arrayBuffer();
  await answered();
  console.log('ready');
  let worstMs = 0;
  while (!isOver) {
    const before = processorMs(pid);
    await answered();
    worstMs = Math.max(worstMs, processorMs(pid) - before);
  }
  console.log(worstMs);
}

/** Processor time of the main thread so far. */
function processorMs(pid: string): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
}

if (import.meta.main) {
  const [, , url = '', pid = ''] = process.argv;
  await ask(url, pid);
}
