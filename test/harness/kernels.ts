/** Daemons that find kernels: an ipykernel of the environment of test/code, for the own account or for all. */
import { chmodSync, mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { environment } from './bridge.ts';
import type { SandboxOptions } from './sandbox.ts';
import { withTestAccount } from './test-account.ts';

/** What a kernel keeps for its account is kept in the directory of the test. */
export const withKernels = (more: Record<string, string> = {}): SandboxOptions => ({
  env: (sandbox) => ({
    PATH: `${environment}/bin:/usr/bin:/bin`,
    IPYTHONDIR: join(sandbox.directory, 'ipython'),
    JUPYTER_DATA_DIR: join(sandbox.directory, 'jupyter'),
    MPLCONFIGDIR: join(sandbox.directory, 'matplotlib'),
    ...more,
  }),
});

/** The Python of these tests may lie where no other account can reach it: this daemon sees it in a place for all. */
const shareEnvironment = `mount --bind ./passwd /etc/passwd && mount --bind ./group /etc/group &&
mount --bind "$SANDBOXD_TEST_BASE" base && mount --bind "$SANDBOXD_TEST_PACKAGES" "shared/lib/$SANDBOXD_TEST_PYTHON/site-packages" &&
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
      writeFileSync(join(directory, 'shared/pyvenv.cfg'), `home = ${directory}/base/bin\n`);
      symlinkSync(`${directory}/base/bin/${basename(executable)}`, join(directory, 'shared/bin/python3'));
    },
  });
  return {
    ...options,
    launcher: ['unshare', '--mount', 'sh', '-c', shareEnvironment, 'sh'],
    env: (sandbox) => ({
      PATH: `${sandbox.directory}/shared/bin:/usr/bin:/bin`,
      SANDBOXD_TEST_BASE: dirname(dirname(executable)),
      SANDBOXD_TEST_PACKAGES: join(environment, 'lib', version, 'site-packages'),
      SANDBOXD_TEST_PYTHON: version,
      SVC_CODE_BACKEND: 'kernel',
    }),
  };
}
