/** The systemd unit, checked with the tool of systemd. */
import { expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '../harness/sandbox.ts';

const unit = readFileSync(join(repositoryRoot, 'deploy/systemd/boxkeep.service'), 'utf8');
/** What commands of a sandbox need would make the exposure smaller; docs/guide/virtual-machines.md lists it. */
const maxExposure = 7.2;

/** The program is not installed on the machine of the test. */
function analyze(...args: string[]): { code: number; output: string } {
  const folder = mkdtempSync(join(tmpdir(), 'boxkeep-deploy-'));
  const path = join(folder, 'boxkeep.service');
  try {
    writeFileSync(path, unit.replace('/usr/local/bin/boxkeep', '/bin/true'));
    const { exitCode, stdout, stderr } = Bun.spawnSync(['systemd-analyze', ...args, path]);
    return { code: exitCode, output: `${stdout.toString()}${stderr.toString()}` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('DEPLOY-UNIT systemd accepts every line of the unit', () => {
  expect(unit).toContain('ExecStart=/usr/local/bin/boxkeep start');
  expect(analyze('verify')).toEqual({ code: 0, output: '' });
});

test('DEPLOY-UNIT the exposure that systemd computes does not grow', () => {
  const { output } = analyze('security', '--offline=true', '--no-pager');
  const [, exposure] = /Overall exposure level for \S+: ([\d.]+)/.exec(output) ?? [];
  expect(Number(exposure)).toBeGreaterThan(0);
  expect(Number(exposure)).toBeLessThanOrEqual(maxExposure);
});

test('DEPLOY-UNIT the daemon ends its own commands, and one that is out of memory does not end the others', () => {
  for (const line of ['KillMode=mixed', 'TimeoutStopSec=15', 'OOMPolicy=continue', 'Restart=always'])
    expect(unit.split('\n')).toContain(line);
});
