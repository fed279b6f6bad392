/** Prints 2 MB of text line by line in one cell, the most that a cell of boxkeep may show. */
import { openCodeServers } from '../peers/code-servers.ts';
import { timeOf, type CodeServer, type CodeSession } from '../peers/code.ts';
import { inTurns } from '../turns.ts';
import type { Row } from './row.ts';

const rounds = 5;
const line = 'the quick brown fox jumps over the lazy dog, and again, and once more over it, and then it sleeps..';
const lines = 2_000_000 / (line.length + 1);

export const codeOutput: Row = {
  name: 'code-output',
  async measure(field) {
    await using servers = await openCodeServers(field, { spare: 0, gatewaySpare: 0, plain: 'fed' });
    await using opened = new AsyncDisposableStack();
    const sessions = new Map<CodeServer, CodeSession>();
    for (const server of servers.all) sessions.set(server, opened.use(await server.openSession()));
    const expected = `${line}\n`.repeat(lines);
    const samples = await inTurns(servers.all, rounds, async (server) => [
      await timeOf(sessions.get(server)!, server.language.printLines(line, lines), expected),
    ]);
    return [{ title: 'cell that prints 2 MB', unit: 'ms', goals: [], samples }];
  },
};
