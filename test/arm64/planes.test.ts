/** The program for arm64 under emulation: one or more operations of each plane, and what emulators do differently. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const slowMs = 120_000;
const slow = { timeoutMs: 600_000 };

test(
  'V2CMD-FAILED V2CMD-E2BIG why a program cannot be executed is reported, where the memory of a child is a copy',
  async ({ sandbox }) => {
    const directory = sandbox.directory;
    writeFileSync(join(directory, 'plain.txt'), 'no program');
    writeFileSync(join(directory, 'no-format'), 'no program');
    chmodSync(join(directory, 'no-format'), 0o755);
    const failures: readonly (readonly [object, string, string])[] = [
      [{ command: '/no/such/program' }, 'exec', 'ENOENT'],
      [{ command: 'no-such-program' }, 'exec', 'ENOENT'],
      [{ command: `${directory}/plain.txt` }, 'exec', 'EACCES'],
      [{ command: `${directory}/no-format` }, 'exec', 'ENOEXEC'],
      [{ command: '/bin/true', args: ['x'.repeat(200_000)] }, 'exec', 'E2BIG'],
    ];
    for (const [body, stage, name] of failures) {
      const result = await sandbox.run({ ...body, shell: 'none' });
      expect(result).toMatchObject({ status: 'failed', exit_code: null, error: { stage, errno_name: name } });
    }
    expect(await sandbox.run({ command: 'exit 3' })).toMatchObject({ status: 'completed', exit_code: 3 });
  },
  slow,
);

test(
  'CMD-1 V2CMD-SURVIVE commands stream, take input and signals, and outlive the daemon',
  async ({ sandbox }) => {
    expect(await sandbox.run({ command: 'echo out; echo err >&2' })).toMatchObject({
      stdout: 'out\n',
      stderr: 'err\n',
    });
    expect(await sandbox.ok('GET /v2/sandbox')).toMatchObject({ arch: 'arm64' });
    const id = await sandbox.start({ command: 'cat' });
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    await sandbox.ok(`POST /v2/commands/${id}/stdin`, { input: 'kept\n', eof: true });
    expect(await sandbox.ended(id)).toMatchObject({ status: 'completed', exit_code: 0 });
    expect((await sandbox.ok(`GET /v2/commands/${id}`))['stdout']).toBe('kept\n');
    const killed = await sandbox.start({ command: 'sleep 600' });
    await sandbox.ok(`POST /v2/commands/${killed}/kill`, {});
    expect(await sandbox.ended(killed)).toMatchObject({ status: 'killed' });
  },
  { ...slow, expectedWarnings: ['started again by init'] },
);

test(
  'FILE-1 TERM-1 CODE-1 files, a watcher, a terminal and a cell work',
  async ({ sandbox }) => {
    const path = join(sandbox.directory, 'a.txt');
    const { watcher_id: watcher } = await sandbox.ok('POST /v2/watch', { path: sandbox.directory });
    await sandbox.ok('POST /v2/fs/write', { path, content: 'one two\n' });
    expect(await sandbox.ok(`GET /v2/fs/read?path=${path}`)).toMatchObject({ content: 'one two\n' });
    const found = await sandbox.ok('POST /v2/fs/grep', { path: sandbox.directory, pattern: 'two' });
    expect(JSON.stringify(found)).toContain('one two');
    const { events } = await sandbox.ok(`GET /v2/watch/${watcher}/poll?cursor=0&timeout=20`);
    expect(JSON.stringify(events)).toContain('a.txt');
    await sandbox.ok(`DELETE /v2/watch/${watcher}`);
    const { id: terminal } = await sandbox.ok('POST /v2/pty/sessions', {});
    const ran = await sandbox.ok(`POST /v2/pty/sessions/${terminal}/exec`, { command: 'echo $((6 * 7))' });
    expect(JSON.stringify(ran)).toContain('42');
    await sandbox.ok(`DELETE /v2/pty/sessions/${terminal}`);
    const cell = await sandbox.ok('POST /v2/code/execute', { language: 'python', code: 'print(6 * 7)' });
    expect(JSON.stringify(cell)).toContain('42');
    await until('the daemon is healthy', async () => (await sandbox.fetch('GET /health')).status === 200, slowMs);
  },
  slow,
);
