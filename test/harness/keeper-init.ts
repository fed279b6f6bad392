/** Starts the native init with a daemon that does nothing, for tests that ask it for keepers. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const native = join(import.meta.dirname, '../../native');

/** Builds the native program with these options, and resolves when its init serves the runtime directory. */
export async function startInit(runtime: string, buildOptions: readonly string[] = []) {
  const built = spawnSync('node', [join(native, 'build.mjs'), ...buildOptions], { encoding: 'utf8' });
  if (built.status !== 0) throw new Error(built.stderr);
  const daemon = [process.execPath, join(native, 'test/fixtures/daemon.ts')].map((argument) => `--daemon=${argument}`);
  const started = Bun.spawn([built.stdout.trim(), ...daemon, 'start', runtime], { stdout: 'pipe', stderr: 'inherit' });
  const reader = started.stdout.getReader();
  const decoder = new TextDecoder();
  for (let said = ''; !said.includes('"event":"ready"');) said += decoder.decode((await reader.read()).value);
  return started;
}
