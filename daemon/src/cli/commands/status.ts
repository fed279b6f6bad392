/** `boxkeep status`: shows what runs at an address, on one screen. */
import { version, type Sandbox as SandboxInfo } from '../../../../clients/typescript/src/wire.ts';
import { Client } from '../client/client.ts';
import { oneLine, print } from '../client/standard-streams.ts';
import { connectionHelp } from '../page.ts';
import { age } from '../time.ts';
import type { Verb } from '../verb.ts';

export const status: Verb = {
  usage: 'status [url]',
  summary: 'show what runs there: version, planes, commands',
  flags: { '--json': 'the description of the sandbox as the daemon sends it' },
  details: connectionHelp,

  async run(given, environment) {
    const client = new Client(given, environment);
    const { data: info } = await client.answer((options) => client.sandbox.info(options));
    if (given.has('json')) {
      await print(JSON.stringify(info, null, 2));
      return 0;
    }
    const { data } = await client.answer((options) => client.sandbox.commands.list({ status: 'running' }, options));
    await print(asText(client.address, info, data.commands.length));
    return 0;
  },
};

function asText(address: string, info: SandboxInfo, running: number): string {
  const account =
    info.default_user === null || info.default_user === info.user ? '' : `, commands as ${info.default_user}`;
  const rows = [
    ['address', address],
    ['version', `${info.version}${info.version === version ? '' : `, and this program is ${version}`}`],
    ['machine', `${info.hostname}, ${info.os} ${info.arch}`],
    ['up', `${age(info.started_at)}, pid ${info.pid}`],
    ['account', `${info.user}${account}`],
    ['workspace', info.workspace_dir],
    ['commands', `${running} running`],
    ...Object.entries(info.capabilities).map(([name, { status, missing, warnings }]) => {
      return [name, [status, ...missing, ...warnings].join('; ')];
    }),
  ] as const;
  const width = Math.max(...rows.map(([name = '']) => name.length)) + 2;
  return rows.map(([name = '', text = '']) => `${name.padEnd(width)}${oneLine(text)}`).join('\n');
}
