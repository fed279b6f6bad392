/** `boxkeep open`: prints the address of the console, and shows it in the browser of this machine. */
import { spawn } from 'node:child_process';
import { Client } from '../client/client.ts';
import { print, standardOutput } from '../client/standard-streams.ts';
import type { SystemTerminal } from '../attach/local.ts';
import { connectionHelp } from '../page.ts';
import type { Verb } from '../verb.ts';

export function open(system: SystemTerminal): Verb {
  return {
    usage: 'open [url]',
    summary: 'print the address of the console, and open it',
    details: `The address is opened with xdg-open, or open on macOS, where standard output is a terminal and the program is there.
The address has no key; the console asks for it once in each tab.
${connectionHelp}`,

    async run(given, environment) {
      const url = `${new Client(given, environment).address}/`;
      await print(url);
      if (system.isTerminal(standardOutput)) await openPage(url);
      return 0;
    },
  };
}

/** A machine without a browser has none of the programs. The address is printed already. */
async function openPage(url: string): Promise<void> {
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const opener = spawn(program, [url], { stdio: 'ignore', detached: true });
  await new Promise<void>((resolve) => {
    opener.once('spawn', resolve);
    opener.once('error', () => resolve());
  });
  opener.unref();
}
