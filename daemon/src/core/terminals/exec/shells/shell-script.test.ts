/** The script of each kind of shell, in the shell itself. */
import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { needPrograms } from '../../../../../../test/harness/programs.ts';
import { readScriptLine, shellScript, type ShellKind } from './shell-script.ts';

test.each<[ShellKind, string]>([
  ['bash', 'bash'],
  ['posix', 'sh'],
  ['zsh', 'zsh'],
  ['fish', 'fish'],
])('the script of %s runs its command once, however often its line is typed', (kind, shell) => {
  needPrograms(shell);
  const directory = mkdtempSync(join(tmpdir(), 'boxkeep-script-'));
  try {
    const out = join(directory, 'out');
    const lines = ['first', 'second'].map((token) => {
      const path = join(directory, token);
      const command = `echo ${token} >>${out}`;
      const parts = { command, shown: command, path, token, directory: null, cols: 80, typedCols: 10 };
      writeFileSync(path, shellScript(kind, parts));
      return `${readScriptLine(kind, path)}\n`.repeat(2);
    });
    const run = spawnSync(shell, kind === 'fish' ? ['--no-config'] : [], {
      input: lines.join(''),
      env: { PATH: process.env['PATH'], HOME: directory },
    });
    expect(run.status).toBe(0);
    expect(readFileSync(out, 'utf8')).toBe('first\nsecond\n');
  } finally {
    rmSync(directory, { recursive: true });
  }
});
