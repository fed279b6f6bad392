/** No sample is lost although the library is loaded late, and labels stay few. */
import { expect, test } from 'bun:test';
import { Metrics } from './metrics.ts';
import { zombies } from './process-gauges.ts';

test('events before the first scrape and after it are counted', async () => {
  const metrics = new Metrics([{ name: 'rooms', help: 'Rooms.', read: async () => 3 }]);
  const request = { method: 'GET', route: '/health', status: 200, ms: 20 };
  metrics.observeRequest(request);
  metrics.observeCommand({ status: 'completed', seconds: 2 });

  await metrics.render();
  metrics.observeRequest(request);
  const { text, contentType } = await metrics.render();

  expect(contentType).toStartWith('text/plain; version=0.0.4');
  expect(text).toContain('http_requests_total{method="GET",route="/health",status="200"} 2');
  expect(text).toContain('http_request_duration_seconds_sum{method="GET",route="/health"} 0.04');
  expect(text).toContain('command_exec_total{status="completed"} 1');
  expect(text).toContain('command_exec_duration_seconds_bucket{le="2.5"} 1');
  expect(text).toContain('rooms 3');
});

test('an unknown method gets no label of its own', async () => {
  const metrics = new Metrics([]);
  for (const method of ['BREW', 'WHEN']) metrics.observeRequest({ method, route: 'unmatched', status: 404, ms: 1 });

  expect((await metrics.render()).text).toContain('{method="other",route="unmatched",status="404"} 2');
});

test('a monotonic value is a counter, read at each scrape', async () => {
  let seconds = 1;
  const metrics = new Metrics([{ name: 'work_seconds_total', help: 'Work.', read: () => seconds }]);

  expect((await metrics.render()).text).toContain('# TYPE work_seconds_total counter\nwork_seconds_total 1\n');
  seconds = 5;
  expect((await metrics.render()).text).toContain('work_seconds_total 5\n');
});

test('a child that ended and was not reaped is counted', async () => {
  // The shell starts a child, then becomes another program, which does not reap it.
  const parent = Bun.spawn(['sh', '-c', 'true & exec cat'], { stdin: 'pipe' });
  const deadline = performance.now() + 5000;
  while (zombies([parent.pid]) === 0 && performance.now() < deadline) await Bun.sleep(5);

  expect(zombies([parent.pid])).toBe(1);
  await parent.stdin.end();
  await parent.exited;
  expect(zombies([parent.pid])).toBe(0);
});
