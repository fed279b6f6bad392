/** Measures OpenSSH: a private sshd with a throw-away key, and one kept connection for all commands. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { installPackage, must } from '../install.ts';
import { freePort, launch } from '../launch.ts';
import type { Limit } from '../limit.ts';
import type { Peer } from './peer.ts';

const sshd = '/usr/sbin/sshd';

export function ssh(limit: Limit | null): Peer {
  return {
    name: 'ssh',
    canStartAnew: false, // It has no page that answers first.
    async open() {
      installPackage({ program: sshd, name: 'openssh-server' });
      // sshd requires this directory when it runs as root, although none of its keys is there.
      if (userInfo().uid === 0) mkdirSync('/run/sshd', { recursive: true });
      const directory = mkdtempSync(join(tmpdir(), 'boxkeep-bench-ssh-'));
      for (const key of ['host', 'user'])
        must(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', join(directory, key)]);
      const port = await freePort();
      writeFileSync(join(directory, 'sshd_config'), serverSettings(directory, port));
      const server = await launch(
        {
          command: [sshd, '-D', '-e', '-f', join(directory, 'sshd_config')],
          serving: /Server listening on/,
          logsTo: 'stderr',
          url: null,
        },
        limit,
      );
      const client = ['ssh', '-S', join(directory, 'control'), '-p', String(port), ...clientSettings(directory)];
      must([...client, '-M', '-N', '-f', '127.0.0.1']);
      return {
        name: 'ssh',
        // sshd has a process for each connection and each session, so it has no single size.
        pids: [],
        startMs: null,
        run: (script) => Bun.spawn([...client, '127.0.0.1', script], { stdio: ['ignore', 'ignore', 'inherit'] }).exited,
        follow: (script) => follow([...client, '127.0.0.1', script]),
        async [Symbol.asyncDispose]() {
          must([...client, '-q', '-O', 'exit', '127.0.0.1']);
          await server[Symbol.asyncDispose]();
          rmSync(directory, { recursive: true, force: true });
        },
      };
    },
  };
}

async function* follow(command: readonly string[]): AsyncGenerator<number> {
  const child = Bun.spawn([...command], { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const piece of child.stdout) yield piece.length;
}

function serverSettings(directory: string, port: number): string {
  return [
    'ListenAddress 127.0.0.1',
    `Port ${port}`,
    `HostKey ${join(directory, 'host')}`,
    `AuthorizedKeysFile ${join(directory, 'user.pub')}`,
    'PidFile none',
    'StrictModes no',
    'UsePAM no',
    'PasswordAuthentication no',
    'PermitRootLogin prohibit-password',
    // The session's shell must not read this user's start-up files, which are not part of the measurement.
    `SetEnv HOME=${directory}`,
    'MaxSessions 64',
    '',
  ].join('\n');
}

function clientSettings(directory: string): string[] {
  const settings = {
    IdentityFile: join(directory, 'user'),
    IdentitiesOnly: 'yes',
    UserKnownHostsFile: join(directory, 'known_hosts'),
    StrictHostKeyChecking: 'accept-new',
    LogLevel: 'ERROR',
  };
  return ['-F', 'none', ...Object.entries(settings).map(([name, value]) => `-o${name}=${value}`)];
}
