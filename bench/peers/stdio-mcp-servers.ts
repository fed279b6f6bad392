/** Measures two MCP servers that agents start as processes: for files, and for files and commands. */
import { join } from 'node:path';
import { npmPackages } from '../install.ts';
import type { Limit } from '../limit.ts';
import type { McpPeer, McpReply } from './mcp.ts';
import { McpServer } from './stdio-mcp.ts';

interface Place {
  /** The directory that the server may read. */
  readonly directory: string;
  readonly limit: Limit | null;
}

const filesystem = '@modelcontextprotocol/server-filesystem@2026.8.31';
const desktopCommander = '@wonderwhy-er/desktop-commander@0.2.52';

export async function openFilesystem(opened: AsyncDisposableStack, { directory, limit }: Place): Promise<McpPeer> {
  const file = '@modelcontextprotocol/server-filesystem/dist/index.js';
  const server = opened.use(new McpServer(['node', scriptOf(filesystem, file), directory], { directory, limit }));
  await server.initialize();
  return { name: 'filesystem', readFile: (path) => server.ask('read_text_file', { path }), run: null };
}

export async function openDesktopCommander(
  opened: AsyncDisposableStack,
  { directory, limit }: Place,
): Promise<McpPeer> {
  const file = '@wonderwhy-er/desktop-commander/dist/index.js';
  const environment = [`HOME=${directory}`, `PATH=${pathWithoutShims()}`];
  const command = ['env', ...environment, 'node', scriptOf(desktopCommander, file), '--no-onboarding'];
  const server = opened.use(new McpServer(command, { directory, limit }));
  await server.initialize();
  // Otherwise each call is reported to the makers of the server.
  await server.call('set_config_value', { key: 'telemetryEnabled', value: false });
  return {
    name: 'desktop-commander',
    readFile: (path) => server.ask('read_file', { path }),
    run: (line) => runUntilShown(server, line),
  };
}

const maxRuns = 5;

/**
 * The server may see the exit of a program before its output, and then loses the output. A client that needs the output
 * runs the line again, and its bytes count too.
 */
async function runUntilShown(server: McpServer, line: string): Promise<McpReply> {
  let bytes = 0;
  for (let run = 1; ; run++) {
    const answer = await runLine(server, line);
    bytes += answer.bytes;
    if (!answer.text.includes('(total: 0 lines)') || run === maxRuns) return { text: answer.text, bytes };
  }
}

/** On a busy machine, the server may answer before the output has come. A client then asks for it. */
async function runLine(server: McpServer, line: string): Promise<McpReply> {
  const started = await server.ask('start_process', { command: line, timeout_ms: 10_000 });
  const [, pid] = /PID (\d+)[^]*Initial output:\s*$/.exec(started.text) ?? [];
  if (pid === undefined) return started;
  const read = await server.ask('read_process_output', { pid: Number(pid), timeout_ms: 10_000 });
  return { text: `${started.text}${read.text}`, bytes: started.bytes + read.bytes };
}

/**
 * With each call, desktop-commander runs `python3 --version` and waits for its end. The shim of a version manager takes
 * hundreds of milliseconds for that.
 */
function pathWithoutShims(): string {
  const directories = process.env['PATH']?.split(':') ?? [];
  return directories.filter((directory) => !directory.endsWith('/shims')).join(':');
}

function scriptOf(release: string, file: string): string {
  return join(npmPackages({ name: release.replaceAll('/', '-'), packages: [release], file }), file);
}
