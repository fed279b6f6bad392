/** Measures how long the next daemon takes to readopt 100 running commands after a kill. */
import { atMost, budget, subject } from '../measurement.ts';
import { startCommand, type Boxkeep } from '../peers/boxkeep.ts';
import type { Row } from './row.ts';

const kills = 7;
const commands = 100;
/** A shorter life counts as a crash, and init then waits before the next start. */
const lifeMs = 1200;

export const readoption: Row = {
  name: 'readoption',
  async measure({ openBoxkeep }) {
    await using server = await openBoxkeep();
    const started = await Promise.all(
      Array.from({ length: commands }, () =>
        startCommand(server.url, { command: 'sleep', args: ['600'], shell: 'none', mode: 'async' }),
      ),
    );
    const ids = started.map(({ command_id: id }) => id).toSorted();
    const took: number[] = [];
    const lost: number[] = [];
    for (let kill = 0; kill < kills; kill++) {
      await Bun.sleep(lifeMs);
      const killedMs = performance.now();
      await server.killDaemon();
      const running = await runningIds(server);
      took.push(performance.now() - killedMs);
      lost.push(ids.filter((id) => !running.has(id)).length);
    }
    return [
      {
        title: 'daemon killed to 100 commands re-adopted',
        unit: 'ms',
        goals: [atMost(60)],
        samples: { [subject]: took },
      },
      {
        title: 'commands that are lost by it',
        unit: 'commands',
        goals: [budget(0)],
        samples: { [subject]: [Math.max(...lost)] },
      },
    ];
  },
};

async function runningIds({ url }: Boxkeep): Promise<Set<string>> {
  const response = await fetch(`${url}/v2/commands?status=running`);
  const { data } = (await response.json()) as { data: { commands: { command_id: string }[] } };
  return new Set(data.commands.map(({ command_id: id }) => id));
}
