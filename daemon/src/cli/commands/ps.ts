/** `boxkeep ps`: lists the commands of a sandbox, as a table for people or as JSON for programs. */
import { readArguments } from '../arguments.ts';
import { shellWord } from '../../kit/text/shell-word.ts';
import { answerWithinMs, Client } from '../client/client.ts';
import { Deadline } from '../../kit/deadline.ts';
import { oneLine, print } from '../client/standard-streams.ts';
import type { Verb } from '../verb.ts';
import { list, readCommand, type CommandView } from '../client/wire.ts';

export const ps: Verb = {
  usage: 'ps <url>',
  summary: 'list the commands that run there',
  details: `  --all   those that have ended too
  --json  the records as the daemon sends them

The key comes from SVC_API_KEY, never from the arguments.`,

  async run(args, environment) {
    const given = readArguments(args, { switches: ['all', 'json'], words: ['the address of a daemon'] });
    const client = new Client(given.words[0] ?? '', environment);
    using deadline = new Deadline(answerWithinMs);
    const query = given.has('all') ? '' : '?status=running';
    const { commands } = await client.call('GET', `/v2/commands${query}`, null, deadline.signal);
    await print(given.has('json') ? JSON.stringify(commands, null, 2) : table(list(commands).map(readCommand)));
    return 0;
  },
};

const longestCommand = 80;

function table(commands: readonly CommandView[]): string {
  const rows = commands.map(({ id, status, exitCode, signal, user, startedAt, command, args }) => {
    const line = oneLine([command, ...args.map(shellWord)].join(' '));
    const short = line.length > longestCommand ? `${line.slice(0, longestCommand - 1)}…` : line;
    return [id, status, signal ?? String(exitCode ?? '-'), oneLine(user), age(startedAt), short];
  });
  const all = [['ID', 'STATUS', 'CODE', 'USER', 'AGE', 'COMMAND'], ...rows];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n');
}

const units = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
] as const;

/** Time since the start, by the clock of this machine. */
function age(startedAt: string | null): string {
  if (startedAt === null) return '-';
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(startedAt)) / 1000));
  const [unit, size] = units.find(([, size]) => seconds >= size * 2) ?? ['s', 1];
  return `${Math.floor(seconds / size)}${unit}`;
}
