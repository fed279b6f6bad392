/** Makes programs for arm64 run on this machine: qemu, registered with the kernel until the machine restarts. */
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { isOnPath, provide, runTool, SetupError } from '../setup.mjs';

const formats = '/proc/sys/fs/binfmt_misc';
const interpreter = 'qemu-aarch64-static';
/** The head of an ELF file for arm64, and the bits of it that count. */
const magic = String.raw`\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00`;
const mask = String.raw`\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff`;

await runTool(() => {
  if (process.arch === 'arm64') return 0;
  provide({
    what: interpreter,
    isThere: () => isOnPath(interpreter),
    packages: ['qemu-user-static'],
    otherwise: 'install qemu-user-static on Debian or Ubuntu',
  });
  if (!existsSync(`${formats}/register`)) mount();
  if (existsSync(`${formats}/qemu-aarch64`)) return 0;
  console.log(`setup: registers ${interpreter} in ${formats}, until this machine restarts`);
  const path = spawnSync('sh', ['-c', `command -v ${interpreter}`], { encoding: 'utf8' }).stdout.trim();
  // F opens the interpreter now, so that it also runs in other roots.
  writeFileSync(`${formats}/register`, `:qemu-aarch64:M::${magic}:${mask}:${path}:F`);
  return 0;
});

function mount() {
  console.log(`setup: mounts ${formats}`);
  const { status, stderr } = spawnSync('mount', ['-t', 'binfmt_misc', 'binfmt_misc', formats], { encoding: 'utf8' });
  if (status !== 0) throw new SetupError(`arm64 programs need ${formats}, which only root can mount: ${stderr.trim()}`);
}
