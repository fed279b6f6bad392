/** Measures agent-browser: a program for each call, and a daemon that its first call starts. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { npmPackages } from '../install.ts';
import type { BrowserPeer } from './browser.ts';

const release = 'agent-browser@0.41.2';

/** The native program itself, because the script of the package that starts it takes longer than most calls. */
function nativeProgram(): string {
  const file = `agent-browser/bin/agent-browser-linux-${process.arch}`;
  const program = join(npmPackages({ name: release, packages: [release], file }), file);
  chmodSync(program, 0o755);
  return program;
}

export function agentBrowser(): BrowserPeer {
  const program = nativeProgram();
  return {
    name: 'agent-browser',
    open(port, limit) {
      // A separate home and socket, so that this daemon is new and ends with the row.
      const directory = mkdtempSync(join(tmpdir(), 'boxkeep-bench-'));
      const call = async (...args: string[]): Promise<string> => {
        const child = Bun.spawn([...(limit?.enter ?? []), program, '--cdp', String(port), ...args], {
          stdin: 'ignore',
          stdout: 'pipe',
          stderr: 'pipe',
          env: {
            PATH: process.env['PATH'],
            HOME: directory,
            AGENT_BROWSER_SOCKET_DIR: directory,
            // Otherwise the daemon asks the internet for the newest version of Chrome.
            AGENT_BROWSER_NO_VERSION_CHECK: '1',
          },
        });
        const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
        if ((await child.exited) !== 0) throw new Error(`agent-browser ${args.join(' ')}: ${stdout}${stderr}`);
        return stdout;
      };
      return Promise.resolve({
        navigate: async (url) => void (await call('open', url)),
        snapshot: () => call('snapshot'),
        click: async (ref) => void (await call('click', `@${ref}`)),
        async [Symbol.asyncDispose]() {
          await call('close');
          rmSync(directory, { recursive: true, force: true });
        },
      });
    },
  };
}
