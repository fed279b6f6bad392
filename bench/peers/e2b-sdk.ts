/** Reaches a server of the E2B protocol with the SDK for Python, in a virtual environment in the user's cache. */
import { virtualEnvironment } from '../install.ts';
import type { Contestant, Mover } from './peer.ts';
import { openSdk } from './sdk-program.ts';

const release = 'e2b==2.63.0';

export function openE2bSdk(contestant: Contestant): Contestant & Mover {
  const place = virtualEnvironment({ name: release, packages: [release], program: 'httpx' });
  return openSdk(contestant, {
    place,
    command: ['e2b-sdk.py'],
    environment: { E2B_SANDBOX_URL: contestant.url ?? '' },
  });
}
