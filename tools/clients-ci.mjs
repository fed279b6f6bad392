/**
 * The stage of `.ci/run` for older clients of E2B: `node tools/clients-ci.mjs SECONDS`, the seconds that are left.
 *
 * Their tests run when what they cover has changed since they passed, and the time is enough.
 */
import { spawnSync } from 'node:child_process';
import { LastPass } from './last-pass.mjs';
import { repositoryRoot } from './repository.mjs';

/** What answers the clients, and what judges the answers. */
const covered = [
  ...['surfaces/e2b', 'http/rpc.ts', 'compose/e2b.ts', 'core/code', 'core/commands', 'core/files', 'core/watch'].map(
    (path) => `daemon/src/${path}`,
  ),
  ...['test/clients/e2b', 'test/engines/older', 'test/harness/e2b-clients.ts'],
];
/** Estimated for two cores, with the installation of the clients. */
const neededSeconds = 300;

const lastPass = new LastPass('tested-clients', covered);
const secondsLeft = Number(process.argv[2] ?? Number.POSITIVE_INFINITY);
process.exitCode = judge();

function judge() {
  const reason = !lastPass.isOld()
    ? 'nothing that they cover has changed since they passed'
    : neededSeconds > secondsLeft && `${secondsLeft} s are too few`;
  if (reason) {
    console.log(`older clients: not run, because ${reason}; npm test has run the newest ones`);
    return 0;
  }
  const args = ['tools/test.mjs', 'proof: clients'];
  const { status } = spawnSync(process.execPath, args, { cwd: repositoryRoot, stdio: 'inherit' });
  if (status === 0) lastPass.note();
  return status ?? 1;
}
