/** Measures a cell that prints a word: its cost in a used session, and the throughput of five sessions. */
import { atMost } from '../measurement.ts';
import { openCodeServers } from '../peers/code-servers.ts';
import { timeOf, type CodeServer, type CodeSession } from '../peers/code.ts';
import { inTurns } from '../turns.ts';
import type { Row } from './row.ts';

const rounds = 10;
const cellsInTurn = 30;
const sessions = 5;

export const codeCell: Row = {
  name: 'code-cell',
  async measure(field) {
    await using servers = await openCodeServers(field, { spare: 0, gatewaySpare: 0, plain: 'fed' });
    await using opened = new AsyncDisposableStack();
    const warm: Warm[] = [];
    for (const server of servers.all) warm.push(await warmUp(server, opened));
    const cells = await inTurns(warm, rounds, (one) => inSequence(one.sessions[0]!, one));
    const sideBySide = await inTurns(warm, rounds, async (one) => [await perSecond(one)]);
    const goals = [atMost(0.8, 'gateway')];
    return [
      { title: 'cell in a warm session', unit: 'ms', goals, samples: cells },
      { title: `cells of ${sessions} sessions at once`, unit: '/s', goals: [], samples: sideBySide },
    ];
  },
};

interface Warm extends Pick<CodeServer, 'name' | 'language'> {
  readonly sessions: readonly CodeSession[];
}

async function warmUp({ name, language, ...server }: CodeServer, opened: AsyncDisposableStack): Promise<Warm> {
  const all: CodeSession[] = [];
  while (all.length < sessions) all.push(opened.use(await server.openSession()));
  return { name, language, sessions: all };
}

async function inSequence(session: CodeSession, { language }: Pick<Warm, 'language'>): Promise<number[]> {
  const took: number[] = [];
  while (took.length < cellsInTurn) {
    const word = `word ${took.length}`;
    took.push(await timeOf(session, language.print(word), `${word}\n`));
  }
  return took;
}

async function perSecond(warm: Warm): Promise<number> {
  const startedMs = performance.now();
  await Promise.all(warm.sessions.map((session) => inSequence(session, warm)));
  return (sessions * cellsInTurn) / ((performance.now() - startedMs) / 1000);
}
