/** Options for daemons that find kernels: the ipykernel of test/code, for one account or for all. */
import { chmodSync, chownSync, mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { environment } from './bridge.ts';
import type { SandboxOptions } from './sandbox.ts';
import { testAccount, withTestAccount } from './test-account.ts';

/** Directs the files that a kernel keeps for its account to the test's directory. */
export const withKernels = (more: Record<string, string> = {}): SandboxOptions => ({
  env: (sandbox) => ({
    PATH: `${environment}/bin:/usr/bin:/bin`,
    IPYTHONDIR: join(sandbox.directory, 'ipython'),
    JUPYTER_DATA_DIR: join(sandbox.directory, 'jupyter'),
    MPLCONFIGDIR: join(sandbox.directory, 'matplotlib'),
    ...more,
  }),
});

/** Other accounts may not be able to reach the Python of these tests, so this daemon sees it in a shared place. */
const shareEnvironment = `mount --bind ./passwd /etc/passwd && mount --bind ./group /etc/group &&
mount --bind "$BOXKEEP_TEST_BASE" base && mount --bind "$BOXKEEP_TEST_PACKAGES" "shared/lib/$BOXKEEP_TEST_PYTHON/site-packages" &&
exec "$@"`;

export function sharedPython(): SandboxOptions {
  const executable = realpathSync(join(environment, 'bin/python3'));
  const version = readdirSync(join(environment, 'lib'))[0] ?? '';
  const options = withTestAccount({
    prepare({ directory }) {
      chmodSync(directory, 0o711);
      const packages = join(directory, 'shared/lib', version, 'site-packages');
      for (const path of [join(directory, 'base'), packages, join(directory, 'shared/bin')])
        mkdirSync(path, { recursive: true });
      const ownDirectory = join(directory, 'ipython');
      mkdirSync(ownDirectory);
      chownSync(ownDirectory, testAccount.uid, testAccount.gid);
      writeFileSync(join(directory, 'shared/pyvenv.cfg'), `home = ${directory}/base/bin\n`);
      symlinkSync(`${directory}/base/bin/${basename(executable)}`, join(directory, 'shared/bin/python3'));
    },
  });
  return {
    ...options,
    launcher: ['unshare', '--mount', 'sh', '-c', shareEnvironment, 'sh'],
    env: (sandbox) => ({
      PATH: `${sandbox.directory}/shared/bin:/usr/bin:/bin`,
      // Otherwise IPython makes a new directory in /tmp at each start for an account that cannot write to its home.
      IPYTHONDIR: join(sandbox.directory, 'ipython'),
      BOXKEEP_TEST_BASE: dirname(dirname(executable)),
      BOXKEEP_TEST_PACKAGES: join(environment, 'lib', version, 'site-packages'),
      BOXKEEP_TEST_PYTHON: version,
      SVC_CODE_BACKEND: 'kernel',
    }),
  };
}
