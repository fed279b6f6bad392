/** The baseline of the exec rows: an HTTP server that spawns each command directly, without durability. */

interface Run {
  readonly command: string;
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  async fetch(request) {
    if (request.method === 'GET') return Response.json({ success: true });
    const { command } = (await request.json()) as Run;
    const child = Bun.spawn(['/bin/sh', '-c', command], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      lazy: true,
    });
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    return Response.json({ success: true, data: { exit_code: code, stdout, stderr } });
  },
});
console.log(`serving ${server.url.origin}`);
