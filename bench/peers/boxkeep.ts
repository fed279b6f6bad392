/** The daemon itself: the build of this repository, or another one by its address. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch, type Launched } from '../launch.ts';
import type { Limit } from '../limit.ts';
import { childrenOf, programOf } from '../processes.ts';
import { addressed } from './addressed.ts';
import { linesOf } from './lines.ts';
import { transferOf } from './files.ts';
import type { Contestant, FileTransfer, Peer } from './peer.ts';

const binary = join(import.meta.dirname, '../../dist/boxkeep');

/** The build, with features for rows that measure boxkeep only. */
export interface Boxkeep extends Contestant {
  readonly url: string;
  /** The daemon's own process. Changes after each death. */
  readonly daemonPid: number;
  /** One keeper for each command or terminal. */
  readonly keeperPids: readonly number[];
  /** Kills the daemon and waits until init's next daemon serves. */
  killDaemon(): Promise<void>;
}

export interface BuiltBoxkeep extends Peer {
  open(...flags: string[]): Promise<Boxkeep>;
  /** Adds variables to the environment of the bench. */
  openIn(environment: Readonly<Record<string, string>>, ...flags: string[]): Promise<Boxkeep>;
}

export function builtBoxkeep(limit: Limit | null): BuiltBoxkeep {
  const openIn: BuiltBoxkeep['openIn'] = async (environment, ...more) => {
    const directory = mkdtempSync(join(tmpdir(), 'boxkeep-bench-'));
    const flags = ['--port', '0', '--runtime-dir', join(directory, 'runtime'), ...more];
    const server = await launch(
      {
        command: [binary, 'start', ...flags],
        serving: /"message":"serving","url":"([^"]+)".*"pid":(\d+)/,
        logsTo: 'stdout',
        url: ([, url]) => `${url}/health`,
        environment,
      },
      limit,
    );
    return new Built(server, directory);
  };
  return { name: 'boxkeep', canStartAnew: true, open: (...flags) => openIn({}, ...flags), openIn };
}

class Built implements Boxkeep {
  readonly name = 'boxkeep';
  readonly #server: Launched;
  readonly #directory: string;
  readonly startMs: number;
  url: string;
  daemonPid: number;

  constructor(server: Launched, directory: string) {
    this.#server = server;
    this.#directory = directory;
    this.startMs = server.startMs;
    this.url = server.serving[1] ?? '';
    this.daemonPid = Number(server.serving[2]);
  }

  /** Init and the daemon. A keeper belongs to its command. */
  get pids(): number[] {
    return [this.#server.pid, this.daemonPid];
  }

  get keeperPids(): number[] {
    return childrenOf(this.#server.pid).filter((pid) => programOf(pid) === 'boxkeep-keeper');
  }

  readonly run = (script: string): Promise<number> => run(this.url, script);
  readonly follow = (script: string): AsyncIterable<number> => follow(this.url, script);

  get files(): FileTransfer {
    return files(this.url);
  }

  async killDaemon(): Promise<void> {
    process.kill(this.daemonPid, 'SIGKILL');
    const [, url = '', pid] = await this.#server.nextServing();
    this.url = url;
    this.daemonPid = Number(pid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

export function remoteBoxkeep(name: string, url: string): Peer {
  return addressed(name, url, { healthPath: '/health', run, follow, files });
}

function files(url: string): FileTransfer {
  const at = (verb: string, path: string) => `${url}/v2/fs/${verb}?path=${encodeURIComponent(path)}`;
  return transferOf({
    downloadUrl: (path) => at('download', path),
    upload: (path, content) => fetch(at('upload', path), { method: 'POST', body: content }),
  });
}

async function run(url: string, script: string): Promise<number> {
  return (await startCommand(url, { command: script, shell: 'sh' })).exit_code;
}

async function* follow(url: string, script: string): AsyncGenerator<number> {
  const { command_id: id } = await startCommand(url, { command: script, shell: 'sh', mode: 'async' });
  for await (const line of linesOf(await fetch(`${url}/v2/commands/${id}?stream=true`))) {
    const event = JSON.parse(line) as { type: string; data: string };
    if (event.type === 'stdout') yield event.data.length;
    if (event.type === 'exit') return;
  }
  throw new Error(`${url}: the stream of ${id} has no last line`);
}

export async function startCommand(url: string, body: object): Promise<{ command_id: string; exit_code: number }> {
  const response = await fetch(`${url}/v2/commands`, { method: 'POST', body: JSON.stringify(body) });
  const answer = (await response.json()) as { data: { command_id: string; exit_code: number }; message: string };
  if (!response.ok) throw new Error(`${url}: ${response.status} ${answer.message}`);
  return answer.data;
}
