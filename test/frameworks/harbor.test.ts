/** The adapter for Harbor: its oracle agent on the tasks of `harbor/`, and the methods of the environment. */
import { join } from 'node:path';
import { beforeAll } from 'bun:test';
import { expect, repositoryRoot, test, type Sandbox } from '../harness/sandbox.ts';
import { agentIn, besideAgents } from './agents.ts';
import { account, keepResult, needFramework, runProgram } from './environment.ts';
import { whileKilled } from '../harness/while-killed.ts';

beforeAll(() => void needFramework('harbor'));

/** Harbor's directories are below `/`, so the daemon has a root of its own above that of the machine. */
const ownRoot = `mkdir own && mount -t tmpfs tmpfs own && mkdir own/upper own/work own/root &&
mount -t overlay overlay -o lowerdir=/,upperdir=own/upper,workdir=own/work own/root || exit
for part in proc dev sys tmp etc home; do mount --rbind "/$part" "own/root/$part" || exit; done
exec chroot own/root sh -c 'cd "$0" && exec "$@"' "$PWD" "$@"`;

const besideHarbor = { ...besideAgents, launcher: [...(besideAgents.launcher ?? []), 'sh', '-c', ownRoot, 'sh'] };

test(
  'FRAME-HARBOR the oracle agent solves three tasks, also while the daemon is killed',
  async ({ sandbox }) => {
    const [solved, kills] = await whileKilled(sandbox, () => rewards(sandbox, 'oracle'));
    expect(solved).toEqual({ count: 1, repair: 1, serve: 1 });
    expect(kills).toBeGreaterThan(0);
    keepResult('harbor', {
      framework: 'Harbor',
      packages: ['harbor'],
      suite: 'the oracle agent on three tasks',
      passed: Object.keys(solved).length,
    });
  },
  besideHarbor,
);

test(
  'FRAME-HARBOR an agent that does nothing gets no reward',
  async ({ sandbox }) => {
    expect(await rewards(sandbox, 'nop')).toEqual({ count: 0, repair: 0, serve: 0 });
  },
  besideHarbor,
);

test(
  'FRAME-HARBOR commands, users, trees and time limits are as Harbor expects, and its errors are those of Python',
  async ({ sandbox }) => {
    const found = await agentIn('harbor', 'harbor_environment.py', sandbox);
    expect(found).toEqual({
      streams: [3, 'out', 'err'],
      users: [`${account.name}\n`, 'root\n', 'root\n'],
      env: 'persistent more\n',
      live: [['stdout', 'live\n']],
      timeout: ['Command timed out after 4 seconds', 'gone\n'],
      bytes: ['ff00', 'ff00'],
      kinds: [true, false],
      absent: 'FileNotFoundError',
      directory: 'IsADirectoryError',
    });
  },
  besideHarbor,
);

/** The reward of each task, or what the trial says about its failure. */
async function rewards(sandbox: Sandbox, agent: string): Promise<Record<string, unknown>> {
  const args = [join(repositoryRoot, 'test/frameworks/harbor'), join(sandbox.directory, `jobs-${agent}`), agent];
  const { code, stdout, stderr } = await runProgram('harbor', 'agents/harbor_run.py', { sandbox, args });
  if (code !== 0) throw new Error(`Harbor exited with ${code}: ${stdout}${stderr}`);
  const trials = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Record<string, Trial>;
  return Object.fromEntries(Object.entries(trials).map(([task, trial]) => [task, trial.rewards?.reward ?? trial]));
}

interface Trial {
  readonly rewards?: { readonly reward: number };
}
