/**
 * Writes deploy/seccomp/chromium.json: `node tools/seccomp.mjs`.
 *
 * Container engines forbid the user namespaces that Chromium's own sandbox needs. The profile is the default profile of
 * Debian's golang-github-containers-common (Apache-2.0) for a container without capabilities, with two changes.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './repository.mjs';

const source = '/usr/share/containers/seccomp.json';
const target = join(repositoryRoot, 'deploy/seccomp/chromium.json');

/** What Chromium calls to make its namespaces. The kernel asks for the capability inside of the new namespace. */
const needed = ['chroot', 'clone', 'clone3', 'unshare'];

/** Debian's profile leaves these to the checks of the kernel; a user namespace would pass those checks. */
const refused = [
  ...['add_key', 'keyctl', 'request_key', 'userfaultfd', 'bpf', 'perf_event_open', 'setns', 'swapon', 'swapoff'],
  ...['mount', 'mount_setattr', 'move_mount', 'open_tree', 'pivot_root', 'umount', 'umount2'],
  ...['fsconfig', 'fsmount', 'fsopen', 'fspick', 'name_to_handle_at', 'reboot', 'sethostname', 'setdomainname'],
];

const architectures = [
  ...['SCMP_ARCH_X86_64', 'SCMP_ARCH_X86', 'SCMP_ARCH_X32'],
  ...['SCMP_ARCH_AARCH64', 'SCMP_ARCH_ARM'],
];
const ownArchitectures = ['amd64', 'x86', 'x32', 'arm64', 'arm'];
const notPermitted = 1;
const notImplemented = 38;

const { syscalls } = JSON.parse(readFileSync(source, 'utf8'));
const rules = syscalls.filter(appliesWithoutCapabilities).map(flat);
const profile = {
  defaultAction: 'SCMP_ACT_ERRNO',
  defaultErrnoRet: notImplemented,
  architectures,
  syscalls: [
    { names: needed, action: 'SCMP_ACT_ALLOW' },
    { names: [...refused].sort(), action: 'SCMP_ACT_ERRNO', errnoRet: notPermitted },
    ...rules.filter(({ names }) => names.length > 0),
  ],
};
writeFileSync(target, `${JSON.stringify(profile, null, 2)}\n`);

/** Kubernetes reads the format of the runtime, which has no conditions: it would apply each conditional rule. */
function appliesWithoutCapabilities({ includes = {}, excludes = {} }) {
  if ((includes.caps ?? []).length > 0) return false;
  if (includes.arches && !includes.arches.some((name) => ownArchitectures.includes(name))) return false;
  return !(excludes.arches ?? []).some((name) => ownArchitectures.includes(name));
}

function flat({ names, action, args = [], errnoRet }) {
  const others = names.filter((name) => !needed.includes(name) && !refused.includes(name));
  return { names: others, action, ...(args.length > 0 ? { args } : {}), ...(errnoRet ? { errnoRet } : {}) };
}
