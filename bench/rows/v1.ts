/** Measures 1.x routes against their v2 forms, over one kept connection to one daemon. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atMost, subject, type Measurement } from '../measurement.ts';
import { inTurns } from '../turns.ts';
import type { Row } from './row.ts';

const rounds = 20;
const callsInTurn = 50;
const turnMs = 1000;
const maxTimes = 1.1;
const sizeMib = 1;

interface Call {
  readonly method?: string;
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>> | FormData;
}

/** One operation in both forms. */
interface Work {
  readonly title: string;
  readonly v1: Call;
  readonly v2: Call;
}

export const v1: Row = {
  name: 'v1',
  async measure({ openBoxkeep }) {
    await using boxkeep = await openBoxkeep();
    const directory = mkdtempSync(join(tmpdir(), 'boxkeep-bench-'));
    try {
      await make(boxkeep.url, { path: '/v2/commands/sessions', body: { id: 'bench' } });
      const measurements: Measurement[] = [];
      for (const work of [...execs(), ...transfers(join(directory, 'file')), cell()])
        measurements.push(await compare(boxkeep.url, work));
      return measurements;
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
};

async function compare(url: string, { title, v1: old, v2 }: Work): Promise<Measurement> {
  const forms = [
    { name: subject, call: old },
    { name: 'v2', call: v2 },
  ];
  const samples = await inTurns(forms, rounds, ({ call }) => makeInSequence(url, call));
  return { title: `${title} over v1`, unit: 'ms', goals: [atMost(maxTimes, 'v2')], samples };
}

function execs(): Work[] {
  const command = 'true';
  return [
    {
      title: 'exec `true`',
      v1: { path: '/v1/bash/exec', body: { command } },
      v2: { path: '/v2/commands', body: { command } },
    },
    {
      title: 'exec `true` in a session',
      v1: { path: '/v1/bash/exec', body: { command, session_id: 'bench' } },
      v2: { path: '/v2/commands', body: { command, session: 'bench' } },
    },
  ];
}

function transfers(path: string): Work[] {
  const form = new FormData();
  form.append('file', new Blob([randomBytes(sizeMib * 2 ** 20)]), 'file');
  form.append('path', path);
  const query = `path=${encodeURIComponent(path)}`;
  return [
    {
      title: `${sizeMib} MiB uploaded`,
      v1: { path: '/v1/file/upload', body: form },
      v2: { path: '/v2/fs/upload', body: form },
    },
    {
      title: `${sizeMib} MiB downloaded`,
      v1: { method: 'GET', path: `/v1/file/download?${query}` },
      v2: { method: 'GET', path: `/v2/fs/download?${query}` },
    },
  ];
}

function cell(): Work {
  const body = { language: 'python', code: 'print("a")', session_id: 'bench' };
  return { title: 'a cell', v1: { path: '/v1/code/execute', body }, v2: { path: '/v2/code/execute', body } };
}

async function makeInSequence(url: string, call: Call): Promise<number[]> {
  const took: number[] = [];
  const endsMs = performance.now() + turnMs;
  do {
    const startedMs = performance.now();
    await make(url, call);
    took.push(performance.now() - startedMs);
  } while (took.length < callsInTurn && performance.now() < endsMs);
  return took;
}

async function make(url: string, { method = 'POST', path, body }: Call): Promise<void> {
  const payload = body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) };
  const response = await fetch(`${url}${path}`, { method, ...payload });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
}
