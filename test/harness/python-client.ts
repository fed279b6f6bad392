/** Drives the last 1.x Python client and judges each of its calls. */
import { join } from 'node:path';
import { expect } from 'bun:test';
import { needPython } from './interpreters.ts';
import { repositoryRoot } from './sandbox.ts';

export type ClientMode = 'sync' | 'async';

export interface DrivenCall {
  readonly call: string;
  readonly expected: string;
  readonly got: string;
  readonly problem: string | null;
}

const folder = join(repositoryRoot, 'test/clients/python');

export class PythonClient {
  readonly #python = join(needPython('clients/python'), 'bin/python');

  /** Fails on each call whose outcome is not the expected one. `group`: see `test/clients/python/drive.py`. */
  async drive(url: string, directory: string, mode: ClientMode, group?: string): Promise<DrivenCall[]> {
    const tables = join(repositoryRoot, 'test/contract/v1');
    const driver = Bun.spawn(
      [this.#python, join(folder, 'drive.py'), url, directory, tables, mode, ...(group ? [group] : [])],
      { cwd: folder, env: { PYTHONDONTWRITEBYTECODE: '1' }, stdout: 'pipe', stderr: 'pipe' },
    );
    const [output, complaints] = await Promise.all([driver.stdout.text(), driver.stderr.text()]);
    if ((await driver.exited) !== 0) throw new Error(`${output}${complaints}`);
    const calls = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as DrivenCall);
    const wrong = calls.filter(({ problem }) => problem !== null);
    expect(wrong.map(({ call, got, problem }) => `${call}: ${got}; ${problem}`)).toEqual([]);
    return calls;
  }
}

/** Calls and methods; a method with several answers is called several times. */
export function countsOf(calls: readonly DrivenCall[]): { readonly methods: number; readonly parsed: number } {
  return {
    methods: new Set(calls.map(({ call }) => call.split(' ')[0])).size,
    parsed: calls.filter(({ got }) => got === 'parsed').length,
  };
}
