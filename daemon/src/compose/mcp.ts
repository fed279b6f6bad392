/** Constructs what only the MCP endpoint works on: skills and the tools of other servers. `boxkeep doctor` asks both. */
import { describeTools, type McpDeps } from '../api.ts';
import type { Shared } from './shared.ts';
import { selectServers, type UpstreamServer } from '../core/mcp/servers.ts';
import { Skills } from '../core/mcp/skills/skills.ts';
import type { Upstreams } from '../core/mcp/upstreams.ts';
import { NeedsSession } from '../core/mcp/upstream-refusal.ts';
import { once } from '../kit/once.ts';
import { parseYaml } from '../platform/host/yaml.ts';
import type { McpServersReport, McpServerStanding, SkillsReport } from '../cli/doctor/mcp-check.ts';
import type { Config } from '../config.ts';
import { CoreError } from '../kit/errors.ts';
import { version } from '../version.ts';

type McpParts = Pick<McpDeps, 'skills' | 'upstreams' | 'version' | 'isStructured'>;

export function composeMcp(shared: Shared, closing: AbortSignal): McpParts {
  const { config, logger } = shared;
  const { servers, warnings } = selectServers(config.mcpServers);
  for (const warning of warnings) logger.warn(warning);
  return {
    skills: new Skills({ directory: config.skillsPath, parseYaml }),
    upstreams: servers.length === 0 ? null : composeUpstreams(shared, servers, closing),
    version,
    isStructured: config.mcpAnswers === 'structured',
  };
}

/** The client of other servers is loaded with the first list or call, because most daemons have no other servers. */
function composeUpstreams({ logger }: Shared, servers: readonly UpstreamServer[], closing: AbortSignal) {
  const load = once(async (): Promise<Upstreams> => {
    const [{ Upstreams }, { McpTransport }, builtIn] = await Promise.all([
      import('../core/mcp/upstreams.ts'),
      import('../platform/clients/mcp-transport.ts'),
      describeTools(),
    ]);
    const upstreams = new Upstreams({
      servers,
      builtIn: builtIn.map(({ name }) => name),
      client: { name: 'boxkeep', version },
      transport: new McpTransport(),
      warn: (message) => logger.warn(message),
      now: Date.now,
    });
    closing.addEventListener('abort', () => upstreams[Symbol.dispose](), { once: true });
    return upstreams;
  });
  return {
    tools: async (signal) => (await load()).tools(signal),
    losses: async () => (await load()).losses(),
    call: async (name, input, call) => (await load()).call(name, input, call),
  } satisfies McpDeps['upstreams'];
}

/** What the hub would make of the registered servers. */
export async function askMcpServers(entries: Config['mcpServers'], withinMs: number): Promise<McpServersReport> {
  const { servers, warnings } = selectServers(entries);
  return { warnings, servers: await Promise.all(servers.map((server) => standingOf(server, withinMs))) };
}

async function standingOf(server: UpstreamServer, withinMs: number): Promise<McpServerStanding> {
  const [{ Upstream }, { McpTransport }] = await Promise.all([
    import('../core/mcp/upstream.ts'),
    import('../platform/clients/mcp-transport.ts'),
  ]);
  const upstream = new Upstream(server, { transport: new McpTransport(), client: { name: 'boxkeep', version } });
  const deadline = AbortSignal.timeout(withinMs);
  const { name, url } = server;
  try {
    const { tools } = await upstream.list(deadline);
    return { name, url, toolCount: tools.length, problem: null };
  } catch (error) {
    return { name, url, toolCount: null, problem: problemOf(error, deadline.aborted ? withinMs : null) };
  }
}

function problemOf(error: unknown, lateMs: number | null): string {
  if (lateMs !== null) return `no answer came within ${lateMs / 1000} s`;
  if (error instanceof NeedsSession) return 'it needs a session, and the hub serves only stateless servers';
  return error instanceof Error ? error.message : String(error);
}

export async function askSkills(directory: string): Promise<SkillsReport> {
  try {
    const { skills, invalid } = await new Skills({ directory, parseYaml }).list(new AbortController().signal);
    return { names: skills.map(({ name }) => name), invalid, problem: null };
  } catch (error) {
    if (!(error instanceof CoreError)) throw error;
    return { names: [], invalid: [], problem: error.message };
  }
}
