/** A separate process that follows many streams at once: `followers.ts <url> <streams of each> <command id>…`. */
import { createHash } from 'node:crypto';

export interface Followed {
  readonly digest: string;
  readonly exitCode: number | null;
}

/** Follows each command `streamsEach` times, to its end. */
export function followMany(url: string, streamsEach: number, ids: readonly string[]): Promise<Followed[][]> {
  const follower = Bun.spawn([process.execPath, import.meta.path, url, String(streamsEach), ...ids], {
    // By default the runtime queues requests beyond 256.
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: '4096' },
    stdout: 'pipe',
    stderr: 'inherit',
  });
  return new Response(follower.stdout).json() as Promise<Followed[][]>;
}

async function follow(url: string, id: string): Promise<Followed> {
  const digest = createHash('sha256');
  const response = await fetch(`${url}/v2/commands/${id}?stream=true&encoding=base64`);
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const { type, data_base64: data, exit_code: exitCode } = JSON.parse(line);
      if (type === 'stdout') digest.update(Buffer.from(data as string, 'base64'));
      if (type === 'exit') return { digest: digest.digest('hex'), exitCode };
    }
  }
  throw new Error(`the stream of ${id} has no last line`);
}

if (import.meta.main) {
  const [url = '', streamsEach, ...ids] = process.argv.slice(2);
  const each = (id: string) => Promise.all(Array.from({ length: Number(streamsEach) }, () => follow(url, id)));
  console.log(JSON.stringify(await Promise.all(ids.map(each))));
}
