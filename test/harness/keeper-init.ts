/** Starts the native init with a daemon that does nothing, for tests that ask it for keepers. */
import { afterAll } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const native = join(import.meta.dirname, '../../native');

/** Serves a new runtime directory until the tests of the file have ended. */
export async function runtimeWithInit(name: string) {
  const directory = mkdtempSync(join(tmpdir(), `boxkeep-${name}-`));
  const init = await startInit(directory);
  afterAll(async () => {
    init.kill('SIGTERM');
    await init.exited;
    rmSync(directory, { recursive: true, force: true });
  });
  return { directory, init };
}

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
