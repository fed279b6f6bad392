/** Measures execd by its address: `POST /command` answers JSON events separated by blank lines. */
import { addressed } from './addressed.ts';
import { linesOf } from './lines.ts';
import type { Peer } from './peer.ts';

interface Event {
  readonly type: string;
  readonly text?: string;
  readonly error?: { readonly evalue?: string };
}

export function execd(name: string, url: string): Peer {
  return addressed(name, url, { healthPath: '/ping', run, follow });
}

/** Ends with the whole answer, which execd holds open for a while. Only then is the connection free again. */
async function run(url: string, script: string): Promise<number> {
  let exitCode = -1;
  for await (const event of start(url, script)) {
    if (event.type === 'execution_complete') exitCode = 0;
    if (event.type === 'error') exitCode = Number(event.error?.evalue);
  }
  return exitCode;
}

async function* follow(url: string, script: string): AsyncGenerator<number> {
  for await (const { type, text = '' } of start(url, script)) {
    // An event is a line of output without its line end.
    if (type === 'stdout') yield text.length + 1;
  }
}

async function* start(url: string, script: string): AsyncGenerator<Event> {
  const response = await fetch(`${url}/command`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ command: script }),
  });
  for await (const line of linesOf(response)) yield JSON.parse(line) as Event;
}
