/** Containers with less than the usual rights: what still works, and what the log reports. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { Container } from '../harness/container.ts';

setDefaultTimeout(600_000);

const hardened = ['--user', '1000', '--cap-drop', 'all', '--security-opt', 'no-new-privileges'];

for (const [title, args, identity, report] of [
  ['as the preset account without capabilities', hardened, 'agent 1000', 'does not run as root'],
  ['as an account that the image does not know', ['--user', '4711'], '4711 4711', 'cannot be written'],
  ['with a read-only root', ['--read-only'], 'agent 1000', 'is read-only'],
] as const) {
  test(`IMG-DEGRADED a container ${title} runs commands and the browser, and reports what is missing`, async () => {
    await using container = await Container.start({ args });
    expect(await container.output('echo $(id -un 2>/dev/null) $(id -u)')).toBe(identity);
    await container.untilServed('/cdp/json/version');
    expect(container.logs()).toContain(report);
  });
}
