/**
 * `npm run images -- memory`: the proportional memory of each program of an idle container, as rows of a table.
 *
 * One container of each image runs at a time. The computer image runs its browser too.
 */
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { containerEnvironment, imageNames } from './containers.mjs';

const idleSeconds = 60;
const shell = `for process in /proc/[0-9]*; do
  pss=$(sed -n 's/^Pss: *\\([0-9]*\\).*/\\1/p' "$process/smaps_rollup" 2>/dev/null) && [ -n "$pss" ] || continue
  echo "$pss $(tr '\\0' ' ' <"$process/cmdline")"
done`;

/** The first pattern that the arguments of a process match names its row. */
const rows = [
  ['browser', /chromium/],
  ['worker of the desktop', /computer-use/],
  ['viewer', /websockify/],
  ['supervisor', /supervisord|start\/(?:entry|events)/],
  ['display', /Xtigervnc/],
  ['gateway', /nginx/],
  ['window manager', /openbox/],
  ['daemon with its init', /boxkeep/],
  ['desktop environment with its buses', /xf|Thunar|at-spi|dbus|dconf|gvfs|gpg-agent|tumbler/],
];

function podman(...args) {
  const { status, stdout, stderr } = spawnSync('podman', args, { encoding: 'utf8', env: containerEnvironment });
  if (status !== 0) throw new Error(`podman ${args[0]}: ${stderr}`);
  return stdout.trim();
}

async function measure(image) {
  // Root reads the memory of other accounts only with the capability.
  const flags = ['--detach', '--shm-size', '4g', '--cap-add', 'SYS_PTRACE'];
  const id = podman('run', ...flags, '--env', 'BROWSER_START_MODE=auto', image);
  try {
    const isReady = () => podman('exec', id, 'curl', '--silent', '--fail', '127.0.0.1:9222/json/version');
    await until(isReady);
    await sleep(idleSeconds * 1000);
    const sums = new Map();
    for (const line of podman('exec', id, 'sh', '-c', shell).split('\n')) {
      const [, kilobytes, text] = /^(\d+) (.+)$/.exec(line) ?? [];
      // The shell that measures, and the rest of its arguments.
      if (text === undefined || text.startsWith('sh -c ')) continue;
      const [name] = rows.find(([, pattern]) => pattern.test(text)) ?? [`other: ${text}`];
      sums.set(name, (sums.get(name) ?? 0) + Number(kilobytes) / 1024);
    }
    return sums;
  } finally {
    podman('rm', '--force', '--time', '0', id);
  }
}

async function until(isReady) {
  for (let tries = 1; ; tries++) {
    try {
      return isReady();
    } catch (error) {
      if (tries === 120) throw error;
      await sleep(500);
    }
  }
}

const daemon = await measure(imageNames.daemon);
const computer = await measure(imageNames.computer);
const cell = (sums, name) => (sums.has(name) ? `${Math.round(sums.get(name))} MiB` : '');
const all = (sums) => `${Math.round([...sums.values()].reduce((sum, part) => sum + part, 0))} MiB`;
console.log('| program | daemon image | computer image |\n|---|---|---|');
for (const name of new Set([...daemon.keys(), ...computer.keys()]))
  console.log(`| ${name} | ${cell(daemon, name)} | ${cell(computer, name)} |`);
console.log(`| **all** | **${all(daemon)}** | **${all(computer)}** |`);
