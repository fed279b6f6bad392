/** Runs the programs of `agents/`: an agent with a scripted model, and the methods that every adapter has. */
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox } from '../harness/sandbox.ts';
import { account, besideFrameworks, keepResult, runProgram, type Result } from './environment.ts';

/** What `agents/behaviour.py` finds in an adapter whose framework knows these errors. */
export const behaviour = {
  streams: [3, 'out', 'err'],
  'absent program': 127,
  '100 KB': 'done',
  'no input': 'end',
  bytes: 'ff000d0a',
  owner: 'own',
  'read absent': 'FileNotFoundError',
  'read directory': 'IsADirectoryError',
  'read refused': ['PermissionError', 'PermissionError', 'PermissionError'],
  'write directory': 'IsADirectoryError',
  'write refused': 'PermissionError',
  timeout: ['timed out', 'gone\n'],
  cancelled: [true, 'gone\n'],
};

/** A daemon beside a directory of the account that runs commands, where some things are not allowed. */
export const besideAgents = besideFrameworks({
  prepare(sandbox) {
    const directory = workIn(sandbox);
    mkdirSync(join(directory, 'closed'), { recursive: true });
    mkdirSync(join(sandbox.directory, 'hidden'), { mode: 0o700 });
    for (const secret of ['work/secret', 'hidden/secret'])
      writeFileSync(join(sandbox.directory, secret), '', { mode: 0o600 });
    chownSync(directory, account.id, account.id);
  },
});

export const workIn = (sandbox: Sandbox): string => join(sandbox.directory, 'work');

/** Returns the findings that the program prints. */
export async function agentIn(name: string, program: string, sandbox: Sandbox): Promise<Record<string, unknown>> {
  const run = await runProgram(name, `agents/${program}`, { sandbox, args: [workIn(sandbox)] });
  if (run.code !== 0) throw new Error(`${program} exited with ${run.code}: ${run.stderr}`);
  return JSON.parse(run.stdout.trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>;
}

/** Keeps the number of findings, which are all as expected by now. */
export function keepFindings(name: string, found: Record<string, unknown>, result: Omit<Result, 'passed'>): void {
  keepResult(name, { ...result, passed: Object.keys(found).length });
}
