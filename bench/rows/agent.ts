/** Measures a loop of fifty tool calls with one scripted model: deepagents and MCP on boxkeep, langchain-e2b on envd. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atMost } from '../measurement.ts';
import { openAgent } from '../peers/agent.ts';
import { inTurns } from '../turns.ts';
import type { Row } from './row.ts';

const rounds = 5;

export const agent: Row = {
  name: 'agent',
  async measure({ contestants, openBoxkeep }) {
    const directory = mkdtempSync(join(tmpdir(), 'boxkeep-bench-'));
    try {
      await using opened = new AsyncDisposableStack();
      const { url } = opened.use(await openBoxkeep());
      const envd = contestants.find(({ name }) => name === 'envd')?.url;
      const agents = [
        opened.use(openAgent('deepagents', url, directory)),
        opened.use(openAgent('mcp', url, directory)),
        ...(envd === undefined ? [] : [opened.use(openAgent('e2b', envd, directory))]),
      ];
      const sent: Record<string, number[]> = {};
      const results: Record<string, number[]> = {};
      const took = await inTurns(agents, rounds, async ({ name, loop }) => {
        const { ms, sentBytes, resultBytes } = await loop();
        (sent[name] ??= []).push(sentBytes / 1024);
        (results[name] ??= []).push(resultBytes / 1024);
        return [ms];
      });
      const goals = [atMost(1, 'langchain-e2b on envd')];
      return [
        { title: 'fifty calls of tools by an agent', unit: 'ms', goals, samples: took },
        { title: 'what its model is sent', unit: 'KiB', goals, samples: sent },
        { title: 'what its tools answer', unit: 'KiB', goals, samples: results },
      ];
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
};
