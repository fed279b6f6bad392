/** `boxkeep ps`: lists the commands of a sandbox, as a table for people or as JSON for programs. */
import type { Command } from '../../../../clients/typescript/src/index.ts';
import { shellWord } from '../../kit/text/shell-word.ts';
import { Client } from '../client/client.ts';
import { oneLine, print } from '../client/standard-streams.ts';
import { connectionHelp } from '../page.ts';
import { age } from '../time.ts';
import type { Verb } from '../verb.ts';

export const ps: Verb = {
  usage: 'ps [url]',
  summary: 'list the commands that run there',
  flags: { '--all': 'those that have ended too', '--json': 'the records as the daemon sends them' },
  details: connectionHelp,

  async run(given, environment) {
    const client = new Client(given, environment);
    const query = given.has('all') ? {} : { status: 'running' as const };
    const { data } = await client.answer((options) => client.sandbox.commands.list(query, options));
    await print(given.has('json') ? JSON.stringify(data.commands, null, 2) : table(data.commands));
    return 0;
  },
};

const longestCommand = 80;

function table(commands: readonly Command[]): string {
  const rows = commands.map(({ command_id: id, status, exit_code, signal, user, started_at, command, args }) => {
    const line = oneLine([command, ...args.map(shellWord)].join(' '));
    const short = line.length > longestCommand ? `${line.slice(0, longestCommand - 1)}…` : line;
    return [id, status, signal ?? String(exit_code ?? '-'), oneLine(user), age(started_at), short];
  });
  const all = [['ID', 'STATUS', 'CODE', 'USER', 'AGE', 'COMMAND'], ...rows];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n');
}
