/** Checks the settings of the MCP endpoint: the registered servers, and the directory of skills. */
import type { Config } from '../../config.ts';
import { ok, warn, type Finding } from './finding.ts';

export interface McpServerStanding {
  readonly name: string;
  readonly url: string;
  /** Null when the server does not list its tools. */
  readonly toolCount: number | null;
  /** Why it does not list them. */
  readonly problem: string | null;
}

export interface McpServersReport {
  /** About skipped servers and fields without effect. */
  readonly warnings: readonly string[];
  /** The servers that the hub serves. */
  readonly servers: readonly McpServerStanding[];
}

export interface SkillsReport {
  readonly names: readonly string[];
  readonly invalid: readonly { readonly folder: string; readonly reason: string }[];
  /** Why the directory cannot be read. */
  readonly problem: string | null;
}

export interface McpView {
  readonly askMcpServers: (servers: Config['mcpServers'], withinMs: number) => Promise<McpServersReport>;
  readonly askSkills: (directory: string) => Promise<SkillsReport>;
}

/** The same time that the hub waits for a server before it answers without that server. */
const listMs = 2000;
const maxNamed = 10;

export async function examineMcp(view: McpView, config: Config): Promise<Finding[]> {
  return [...(await examineServers(view, config)), await examineSkills(view, config)];
}

async function examineServers({ askMcpServers }: McpView, config: Config): Promise<Finding[]> {
  const { mcpServers, browserMcpPort } = config;
  const check = 'mcp servers';
  if (mcpServers.length === 0) return [ok(check, 'none is registered; /mcp has only the built-in tools')];
  const { warnings, servers } = await askMcpServers(mcpServers, listMs);
  const start = 'Start the server, or take it out of EXTRA_MCP_SERVERS; the daemon starts without it.';
  return [
    ...warnings.map((message) => warn(check, message, 'Correct the entries in EXTRA_MCP_SERVERS.')),
    ...servers.map(({ name, url, toolCount, problem }) => {
      if (problem === null) return ok(check, `${name} at ${url} has ${toolCount ?? 0} tools`);
      if (new URL(url).port === String(browserMcpPort))
        return ok(check, `${name} at ${url} is SVC_BROWSER_MCP_PORT, which the daemon opens when it starts`);
      return warn(check, `${name} at ${url} does not list its tools: ${problem}`, start);
    }),
  ];
}

async function examineSkills({ askSkills }: McpView, { skillsPath }: Config): Promise<Finding> {
  const check = 'skills';
  if (skillsPath === null) return ok(check, 'SVC_SKILLS_PATH is not set, so sandbox_load_skill has none');
  const { names, invalid, problem } = await askSkills(skillsPath);
  if (problem !== null) return warn(check, problem, 'Create the directory, or set another SVC_SKILLS_PATH.');
  if (invalid.length > 0) {
    const reasons = invalid.slice(0, maxNamed).map(({ folder, reason }) => `${folder} (${reason})`);
    const more = invalid.length > maxNamed ? `, and ${invalid.length - maxNamed} more` : '';
    return warn(
      check,
      `skills in ${skillsPath} cannot be loaded: ${reasons.join(', ')}${more}`,
      'Correct them on disk.',
    );
  }
  if (names.length === 0) return warn(check, `${skillsPath} has no skills`, 'Put each into a folder with a SKILL.md.');
  return ok(check, `${names.length} in ${skillsPath}`);
}
