/** Measures a search of 50 000 files by the daemon and by ripgrep, with every match read by the client. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPackage } from '../install.ts';
import { atMost } from '../measurement.ts';
import type { Boxkeep } from '../peers/boxkeep.ts';
import { inTurns } from '../turns.ts';
import type { Row } from './row.ts';

const rounds = 10;
const directories = 500;
const filesInEach = 100;
/** One file in this many has a matching line. */
const onceIn = 250;
const matchCount = (directories * filesInEach) / onceIn;
const lines = `${'const answer = lookUp(question); // what everybody asks for\n'.repeat(50)}`;

/** Searches once and returns the number of matching lines. */
interface Searcher {
  readonly name: string;
  search(): Promise<number>;
}

export const grep: Row = {
  name: 'grep',
  async measure({ openBoxkeep }) {
    installPackage({ program: '/usr/bin/rg', name: 'ripgrep' });
    const tree = mkdtempSync(join(tmpdir(), 'boxkeep-bench-'));
    plant(tree);
    try {
      await using boxkeep = await openBoxkeep();
      const searchers = [
        throughDaemon(boxkeep, tree),
        // Equal to the daemon's search, because checking the size of each file is a fifth of the work.
        byItself('rg', tree, ['--max-filesize=1M']),
        byItself('rg, any size', tree, []),
      ];
      const samples = await inTurns(searchers, rounds, async (searcher) => {
        const startedMs = performance.now();
        const found = await searcher.search();
        if (found !== matchCount) throw new Error(`${searcher.name}: found ${found} of ${matchCount}`);
        return [performance.now() - startedMs];
      });
      return [{ title: 'grep over 50 000 files', unit: 'ms', goals: [atMost(1.15, 'rg')], samples }];
    } finally {
      rmSync(tree, { recursive: true });
    }
  },
};

function plant(tree: string): void {
  for (let at = 0; at < directories; at++) {
    const directory = join(tree, `group-${at % 20}`, `part-${at}`);
    mkdirSync(directory, { recursive: true });
    for (let file = 0; file < filesInEach; file++) {
      const isSought = (at * filesInEach + file) % onceIn === 0;
      writeFileSync(join(directory, `file-${file}.ts`), isSought ? `${lines}a needle\n` : lines);
    }
  }
}

function throughDaemon({ url }: Boxkeep, path: string): Searcher {
  return {
    name: 'boxkeep',
    async search() {
      const response = await fetch(`${url}/v2/fs/grep`, {
        method: 'POST',
        body: JSON.stringify({ path, pattern: 'needle' }),
      });
      const { data } = (await response.json()) as { data: { matches: unknown[]; engine: string } };
      if (data.engine !== 'ripgrep') throw new Error(`boxkeep: ${data.engine} answered`);
      return data.matches.length;
    },
  };
}

function byItself(name: string, path: string, limit: readonly string[]): Searcher {
  return {
    name,
    async search() {
      const command = ['rg', '--no-config', '--line-number', ...limit, 'needle', path];
      const rg = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe' });
      return (await rg.stdout.text()).split('\n').length - 1;
    },
  };
}
