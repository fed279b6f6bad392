/** How long a container takes until its API and its browser answer, over many starts. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { Container } from '../harness/container.ts';
import { until } from '../harness/until.ts';

setDefaultTimeout(900_000);
const starts = 24;
const [apiMs, browserMs] = [1000, 3000];

test(`IMG-9 in ${starts} consecutive starts the API answers within a second, and the browser within three`, async () => {
  const seconds: string[] = [];
  for (let start = 0; start < starts; start++) {
    await using container = Container.run();
    await until('the API answers', async () => (await container.status('/health')) === 200, apiMs);
    const api = Date.now() - container.startedAt;
    await until(
      'the browser answers',
      async () => (await container.status('/cdp/json/version')) === 200,
      browserMs - apiMs,
    );
    const browser = Date.now() - container.startedAt;
    seconds.push(`${(api / 1000).toFixed(2)}/${(browser / 1000).toFixed(2)}`);
    expect(await container.output('echo works')).toBe('works');
  }
  console.log(`seconds from the start of the container to API/browser: ${seconds.join(' ')}`);
});
