/** `boxkeep completions` in the shells themselves. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { client } from '../harness/cli-client.ts';
import { needPrograms } from '../harness/programs.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { Tmux } from '../harness/tmux.ts';
import { until } from '../harness/until.ts';

async function save(sandbox: Sandbox, shell: string): Promise<string> {
  const { code, stdout, stderr } = await client(sandbox, ['completions', shell]);
  expect([code, stderr]).toEqual([0, '']);
  const path = join(sandbox.directory, `completions.${shell}`);
  writeFileSync(path, stdout);
  return path;
}

function printed(sandbox: Sandbox, program: string, script: string): string {
  needPrograms(program);
  const env = { PATH: process.env['PATH'], HOME: sandbox.directory, TMPDIR: join(sandbox.directory, 'tmp') };
  const { stdout, stderr } = spawnSync(program, ['-c', script], { encoding: 'utf8', env });
  expect(stderr).toBe('');
  return stdout;
}

/** What is to be completed, and some and not other words that complete it. */
const cases = [
  ['s', ['start', 'status', 'stop', 'screenshot'], ['exec']],
  ['exec --c', ['--cwd', '--cacert'], ['--user']],
  ['code ', ['python', 'javascript'], ['exec']],
  ['help ex', ['exec', 'exit-codes'], ['ps']],
  ['start --api-key-', ['--api-key-file'], ['--port']],
] as const;

test('CLI-COMPLETIONS bash completes sub-commands, flags and fixed words', async ({ sandbox }) => {
  const path = await save(sandbox, 'bash');
  for (const [line, found, others] of cases) {
    const words = `boxkeep ${line}`.split(' ').map((word) => `'${word}'`);
    const script = `source ${path}; COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _boxkeep; echo "\${COMPREPLY[@]}"`;
    const completed = printed(sandbox, 'bash', script).trim().split(' ');
    expect(completed).toEqual(expect.arrayContaining([...found]));
    expect(completed).not.toEqual(expect.arrayContaining([...others]));
  }
});

test('CLI-COMPLETIONS fish completes sub-commands, flags and fixed words', async ({ sandbox }) => {
  const path = await save(sandbox, 'fish');
  for (const [line, found, others] of cases) {
    const lines = printed(sandbox, 'fish', `source ${path}; complete -C 'boxkeep ${line}'`).trim().split('\n');
    const completed = lines.map((each) => each.split('\t')[0]);
    expect(completed).toEqual(expect.arrayContaining([...found]));
    expect(completed).not.toEqual(expect.arrayContaining([...others]));
  }
});

test('CLI-COMPLETIONS zsh completes sub-commands, flags and fixed words', async ({ sandbox }) => {
  needPrograms('zsh');
  const path = await save(sandbox, 'zsh');
  await using tmux = new Tmux(sandbox.directory);
  const pane = tmux.pane({
    command: ['zsh', '-f', '-i'],
    cwd: sandbox.directory,
    env: { HOME: sandbox.directory, TERM: 'screen' },
  });
  pane.type(`PS1='> '; autoload -U compinit; compinit -D -u; source ${path}; clear`, { key: 'Enter' });
  await until('zsh is ready', () => pane.text.trim() === '>');
  for (const [line, found] of cases) {
    pane.type(`boxkeep ${line}`, { key: 'Tab' });
    await until(`zsh completes ${line}`, () => found.every((word) => pane.text.includes(word)));
    pane.type({ key: 'C-u' }, 'clear', { key: 'Enter' });
    await until('zsh is ready', () => pane.text.trim() === '>');
  }
});
