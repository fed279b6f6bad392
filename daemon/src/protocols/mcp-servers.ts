/** Reads the setting that registers other MCP servers: JSON text, or the path of a file with that text. */
import { readFileSync, statSync } from 'node:fs';
import { errnoOf } from '../kit/errno.ts';
import { isFields, type Fields } from '../kit/types/fields.ts';

/** The fields of one server, not yet judged. */
export type ServerEntry = Fields;

const maxFileBytes = 1024 * 1024;
const example = '{"name": {"url": "http://127.0.0.1:8100/mcp"}}';

/** The entries by name, in their order. Throws an Error with one sentence. */
export function readServerEntries(given: string): readonly (readonly [name: string, entry: ServerEntry])[] {
  const isText = given.trimStart().startsWith('{');
  const parsed = parse(isText ? given : readSmallFile(given), isText ? 'the text' : 'the file');
  if (!isFields(parsed)) throw new Error(`must be an object as ${example}`);
  // Configuration files of other programs have the servers below this name.
  const { mcpServers: inner } = parsed;
  const servers = Object.keys(parsed).length === 1 && isFields(inner) && !('url' in inner) ? inner : parsed;
  return Object.entries(servers).map(([name, entry]) => [name, checked(name, entry)]);
}

function readSmallFile(path: string): string {
  try {
    const { size } = statSync(path);
    if (size <= maxFileBytes) return readFileSync(path, 'utf8');
  } catch (error) {
    const reason = errnoOf(error) ?? String(error);
    throw new Error(`is neither a JSON object nor a readable file (${reason})`, { cause: error });
  }
  throw new Error(`the file has more than ${maxFileBytes} bytes`);
}

function parse(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${what} is not JSON (${(error as Error).message}); it must be an object as ${example}`, {
      cause: error,
    });
  }
}

function checked(name: string, entry: unknown): ServerEntry {
  if (!isFields(entry)) throw new Error(`the entry ${name} must be an object with a url`);
  const { url, prefix, command } = entry;
  if (command === undefined && typeof url !== 'string') throw new Error(`the entry ${name} needs a url, as text`);
  if (prefix === undefined || prefix === null) return entry;
  if (typeof prefix === 'string' && /^[A-Za-z0-9_.-]{0,64}$/.test(prefix)) return entry;
  throw new Error(`the prefix of ${name} must be at most 64 letters, digits, dots, hyphens and underscores`);
}
