/** Measures calls of MCP tools in a used server: a small file, a command that prints a word, and another server. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atMost } from '../measurement.ts';
import { openBoxkeepMcp } from '../peers/boxkeep-mcp.ts';
import type { McpPeer, McpReply } from '../peers/mcp.ts';
import { openDesktopCommander, openFilesystem } from '../peers/stdio-mcp-servers.ts';
import { inTurns, timed } from '../turns.ts';
import { measureHub } from './mcp-hub.ts';
import type { Row } from './row.ts';

const rounds = 5;
const callsInTurn = 10;
const text = 'one line of a small file\n'.repeat(40);

export const mcp: Row = {
  name: 'mcp',
  async measure(field) {
    const directory = mkdtempSync(join(tmpdir(), 'boxkeep-bench-'));
    try {
      const path = join(directory, 'small.txt');
      writeFileSync(path, text);
      await using opened = new AsyncDisposableStack();
      const peers = [
        await openBoxkeepMcp(opened, field),
        await openFilesystem(opened, { directory, limit: field.limitFor('filesystem') }),
        await openDesktopCommander(opened, { directory, limit: field.limitFor('desktop-commander') }),
      ];
      const texts: Record<string, number[]> = {};
      const sizes: Record<string, number[]> = {};
      const runSizes: Record<string, number[]> = {};
      const reads = await inTurns(peers, rounds, (peer) =>
        readRepeatedly(peer, path, { texts: (texts[peer.name] ??= []), sizes: (sizes[peer.name] ??= []) }),
      );
      const runners = peers.flatMap(({ name, run }) => (run === null ? [] : [{ name, run }]));
      const runs = await inTurns(runners, rounds, (runner) => runRepeatedly(runner, (runSizes[runner.name] ??= [])));
      const first = [atMost(1, 'desktop-commander')];
      return [
        { title: 'MCP: read a small file', unit: 'ms' as const, goals: first, samples: reads },
        { title: 'its text', unit: 'KiB' as const, goals: [], samples: texts },
        { title: 'its whole answer', unit: 'KiB' as const, goals: [], samples: sizes },
        { title: 'MCP: run echo', unit: 'ms' as const, goals: first, samples: runs },
        { title: 'its whole answer', unit: 'KiB' as const, goals: [], samples: runSizes },
        ...(await measureHub(field)),
      ];
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
};

interface ReadSizes {
  readonly texts: number[];
  readonly sizes: number[];
}

async function readRepeatedly(peer: McpPeer, path: string, { texts, sizes }: ReadSizes): Promise<number[]> {
  return await timed(callsInTurn, async () => {
    const answer = await peer.readFile(path);
    if (!answer.text.includes(text.trimEnd())) throw new Error(`${peer.name} answered ${answer.text.slice(0, 200)}`);
    texts.push(Buffer.byteLength(answer.text) / 1024);
    sizes.push(answer.bytes / 1024);
  });
}

interface Runner {
  readonly name: string;
  readonly run: (command: string) => Promise<McpReply>;
}

async function runRepeatedly({ name, run }: Runner, sizes: number[]): Promise<number[]> {
  return await timed(callsInTurn, async () => {
    const answer = await run('echo word');
    if (!answer.text.includes('word')) throw new Error(`${name} answered ${answer.text.slice(0, 200)}`);
    sizes.push(answer.bytes / 1024);
  });
}
