/** Measures how long a file change takes to reach a waiting client, beyond the debounce. */
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atMost, subject } from '../measurement.ts';
import type { Row } from './row.ts';

const writes = 100;
/** The shortest debounce that a client can request, and the allowed delay beyond it. */
const debounceMs = 50;
const addedMs = 5;

export const watch: Row = {
  name: 'watch',
  async measure({ openBoxkeep }) {
    await using server = await openBoxkeep();
    const directory = mkdtempSync(join(tmpdir(), 'boxkeep-bench-'));
    const took = await delays(server.url, directory);
    rmSync(directory, { recursive: true });
    return [
      {
        title: `file written to its event, debounce ${debounceMs} ms`,
        unit: 'ms',
        goals: [atMost(debounceMs + addedMs)],
        samples: { [subject]: took },
      },
    ];
  },
};

async function delays(url: string, directory: string): Promise<number[]> {
  const file = join(directory, 'file');
  writeFileSync(file, '');
  const { watcher_id: id } = await ask(`${url}/v2/watch`, { path: directory, debounce: debounceMs });
  const took: number[] = [];
  for (let cursor = 0; took.length <= writes;) {
    const answer = ask(`${url}/v2/watch/${id}/poll?cursor=${cursor}&timeout=10`);
    const writtenMs = performance.now();
    appendFileSync(file, 'a line\n');
    const { events, cursor: next } = await answer;
    took.push(performance.now() - writtenMs);
    if (events.length !== 1) throw new Error(`${url}: ${events.length} events of one write`);
    cursor = next;
  }
  return took.slice(1); // The first sample is a warm-up.
}

interface Answer {
  readonly watcher_id: string;
  readonly events: readonly unknown[];
  readonly cursor: number;
}

async function ask(url: string, body?: object): Promise<Answer> {
  const response = await fetch(url, body ? { method: 'POST', body: JSON.stringify(body) } : {});
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return ((await response.json()) as { data: Answer }).data;
}
