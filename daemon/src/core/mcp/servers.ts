/** Decides which of the configured MCP servers the hub serves, and says why it skips the others. */
import type { ServerEntry } from '../../protocols/mcp-servers.ts';

/** An MCP server on this machine whose tools the hub offers beside its own. */
export interface UpstreamServer {
  readonly name: string;
  readonly url: string;
  /** Put before the name of each tool, with `_` between; null leaves the names as they are. */
  readonly prefix: string | null;
}

export interface ServerSelection {
  readonly servers: readonly UpstreamServer[];
  /** At most one about skipped servers, and one about fields without effect. */
  readonly warnings: readonly string[];
}

/** Maximum number of servers; each list of tools asks all of them. */
export const maxServers = 50;

/** The entries in the order of their registration. */
export function selectServers(entries: readonly (readonly [name: string, entry: ServerEntry])[]): ServerSelection {
  const servers: UpstreamServer[] = [];
  const skipped: string[] = [];
  const ignored: string[] = [];
  for (const [name, entry] of entries) {
    const reason = servers.length === maxServers ? `more than ${maxServers} servers` : whySkipped(entry);
    if (reason !== null) {
      skipped.push(`${name} (${reason})`);
      continue;
    }
    const { url, prefix } = entry;
    servers.push({ name, url: String(url), prefix: typeof prefix === 'string' && prefix !== '' ? prefix : null });
    ignored.push(...Object.keys(entry).flatMap((key) => (known.has(key) ? [] : [`${name}.${key}`])));
  }
  return {
    servers,
    warnings: [
      ...(skipped.length === 0 ? [] : [`MCP servers are skipped: ${skipped.join(', ')}. ${advice}`]),
      ...(ignored.length === 0 ? [] : [`Fields of MCP servers have no effect: ${ignored.join(', ')}.`]),
    ],
  };
}

const known = new Set(['url', 'prefix', 'type', 'transport']);
const advice =
  'The hub serves stateless HTTP servers on 127.0.0.1, localhost or [::1]; run others behind such a server.';
const streamable = new Set(['http', 'streamable-http', 'streamable_http', 'streamablehttp']);

function whySkipped({ url, command, type, transport }: ServerEntry): string | null {
  if (command !== undefined) return 'it is a command';
  if (typeof url !== 'string') return 'it has no url';
  const kind = type ?? transport;
  if (typeof kind === 'string' && !streamable.has(kind.toLowerCase())) return `its transport is ${kind}`;
  return isLoopback(url) ? null : 'its url is not on loopback over http';
}

/**
 * Compares the text itself, because a parser of URLs also takes other spellings for these hosts, and names that only
 * look like them.
 */
function isLoopback(url: string): boolean {
  return (
    /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?(?:[/?][\x21-\x7e]*)?$/.test(url) && URL.canParse(url)
  );
}
