/** All settings in one table: variable, flag, type, default and meaning. */
import { z } from 'zod';
import { keyRule, parseKey, readKeyFile } from './kit/api-key.ts';
import { readFlags, type Flags } from './kit/text/flags.ts';
import { logLevels } from './kit/logger.ts';
import type { Environment } from './kit/types/environment.ts';
import { readServerEntries, type ServerEntry } from './protocols/mcp-servers.ts';

interface Setting<T> {
  readonly variable: string;
  readonly flag: string;
  /** A function, because most settings are not given and building every schema would slow the start. */
  readonly schema: () => z.ZodType<T>;
  readonly fallback: T;
  /** One sentence for --help and the reference. */
  readonly sentence: string;
  readonly isSecret?: boolean;
  /** The name of the setting in the 1.x system. */
  readonly formerVariable?: string;
}

/** The flag of `SVC_MAX_COMMANDS` is `max-commands`, where the row names no other. */
function setting<T>({
  variable,
  flag = variable.replace(/^SVC_/, '').toLowerCase().replaceAll('_', '-'),
  ...row
}: Omit<Setting<T>, 'flag'> & { readonly flag?: string }): Setting<T> {
  return { variable, flag, ...row };
}

const text = () => z.string().min(1);
const key = () =>
  z.string().transform((given, context) => {
    const parsed = parseKey(given);
    if (parsed !== null) return parsed;
    context.addIssue({ code: 'custom', message: keyRule });
    return z.NEVER;
  });
const list = () =>
  z.string().transform((value) =>
    value
      .split(',')
      .map((entry) => entry.trim())
      .filter(Boolean),
  );
/** `null`, the origin of sandboxed frames, and `*` cannot be listed, because any page can have such an origin. */
const origins = () => list().refine((entries) => entries.every(isOrigin), 'must be origins as https://app.example');
const isOrigin = (entry: string) => /^https?:/.test(entry) && URL.parse(entry)?.origin === entry;
const serverEntries = () =>
  z.string().transform((given, context) => {
    try {
      return readServerEntries(given);
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message });
      return z.NEVER;
    }
  });
const wholeNumber = (min: number, max: number) => () => {
  const rule = `must be a whole number from ${min} to ${max}`;
  return z.string().regex(/^\d+$/, rule).transform(Number).pipe(z.number().min(min, rule).max(max, rule));
};
const oneOf =
  <const T extends string>(...words: T[]) =>
  () =>
    z.enum(words, `must be one of ${words.join(', ')}`);
const absolutePath = () => z.string().regex(/^\//, 'must be an absolute path');

export const settings = {
  host: setting<string>({
    variable: 'SVC_HOST',
    schema: text,
    fallback: '',
    sentence: 'Address to listen on: 0.0.0.0 when a key is set, 127.0.0.1 when none is.',
  }),
  port: setting<number>({
    variable: 'SVC_PORT',
    schema: wholeNumber(0, 65535),
    fallback: 18091,
    sentence: 'Port to listen on; 0 takes any free one.',
  }),
  apiKey: setting<string | null>({
    variable: 'SVC_API_KEY',
    schema: key,
    fallback: null,
    sentence:
      'The key that every request must carry: printable ASCII; one newline at its end is dropped. SANDBOX_API_KEY is read too. Without a key the daemon is open.',
    isSecret: true,
    formerVariable: 'SANDBOX_API_KEY',
  }),
  apiKeyFile: setting<string | null>({
    variable: 'SVC_API_KEY_FILE',
    schema: absolutePath,
    fallback: null,
    sentence:
      'File that holds the key, in place of SVC_API_KEY; SIGHUP reads it again. SANDBOX_API_KEY_FILE is read too.',
    formerVariable: 'SANDBOX_API_KEY_FILE',
  }),
  allowedHosts: setting<readonly string[]>({
    variable: 'SVC_ALLOWED_HOSTS',
    schema: list,
    fallback: [],
    sentence:
      'Comma-separated host names that the daemon serves besides loopback names, IP addresses and the name of this machine. An entry is a name, *.suffix for every name below the suffix, or * for every name without a dot except localhost. Web pages of these hosts may call the daemon. Without this setting, a daemon with a key serves every host name, and only web pages from its own address may call.',
  }),
  corsOrigins: setting<readonly string[]>({
    variable: 'SVC_CORS_ORIGINS',
    schema: origins,
    fallback: [],
    sentence: 'Origins whose pages may call and read answers, with commas, as https://app.example; none by default.',
  }),
  bodyStallSeconds: setting<number>({
    variable: 'SVC_BODY_STALL_SECONDS',
    schema: wholeNumber(1, 3600),
    fallback: 30,
    sentence:
      'How long nothing of a request body may arrive, and how long a client may take nothing of a large answer, before the request is given up.',
  }),
  idleSeconds: setting<number>({
    variable: 'SVC_IDLE_SECONDS',
    schema: wholeNumber(1, 255),
    fallback: 120,
    sentence: 'How long a connection without an open request is kept, to within 4 seconds.',
  }),
  streamKeptMib: setting<number | null>({
    variable: 'SVC_STREAM_KEPT_MIB',
    schema: wholeNumber(1, 1_048_576),
    fallback: null,
    sentence: 'MiB of output kept of each stream of a command: 256, or 64 where the runtime directory is in memory.',
  }),
  totalKeptMib: setting<number | null>({
    variable: 'SVC_TOTAL_KEPT_MIB',
    schema: wholeNumber(1, 1_048_576),
    fallback: null,
    sentence:
      'MiB of output kept of all commands: 2048, or a tenth of the memory where the runtime directory is in memory.',
  }),
  maxStreams: setting<number>({
    variable: 'SVC_MAX_STREAMS',
    schema: wholeNumber(1, 100_000),
    fallback: 1024,
    sentence: 'Maximum number of open streams. Another one is refused with 429.',
  }),
  defaultUser: setting<string | null>({
    variable: 'SVC_DEFAULT_USER',
    schema: text,
    fallback: null,
    sentence: 'Account that commands, terminals and code run as; the daemon’s own otherwise.',
  }),
  runtimeDir: setting<string | null>({
    variable: 'SVC_RUNTIME_DIR',
    schema: absolutePath,
    fallback: null,
    sentence:
      'Private directory for commands and their logs: /var/lib/boxkeep/<port>, else /run, else the temp directory.',
  }),
  apiSurface: setting<'full' | 'v2'>({
    variable: 'SVC_API_SURFACE',
    schema: oneOf('full', 'v2'),
    fallback: 'full',
    sentence: 'full, or v2 to remove /v1 except ping, capabilities and its description.',
  }),
  logLevel: setting<(typeof logLevels)[number]>({
    variable: 'SVC_LOG_LEVEL',
    schema: oneOf(...logLevels),
    fallback: 'info',
    sentence: `Lowest level to log: ${logLevels.join(', ')}.`,
  }),
  maxCommands: setting<number>({
    variable: 'SVC_MAX_COMMANDS',
    schema: wholeNumber(1, 100_000),
    fallback: 512,
    sentence: 'Maximum number of running commands. Another one is refused with 429.',
  }),
  maxCommandSessions: setting<number>({
    variable: 'SVC_MAX_COMMAND_SESSIONS',
    schema: wholeNumber(1, 100_000),
    fallback: 256,
    sentence: 'Maximum number of command sessions. Another one is refused with 429.',
  }),
  maxTerminals: setting<number>({
    variable: 'SVC_SHELL_MAX_SESSIONS',
    schema: wholeNumber(1, 100_000),
    fallback: 20,
    sentence: 'Maximum number of terminal sessions. Another one is refused with 429. MAX_SHELL_SESSIONS is read too.',
    formerVariable: 'MAX_SHELL_SESSIONS',
  }),
  terminalBackend: setting<'auto' | 'native' | 'tmux'>({
    variable: 'SVC_SHELL_BACKEND',
    schema: oneOf('auto', 'native', 'tmux'),
    fallback: 'auto',
    sentence:
      'Backend of terminals: native or tmux; auto is native. tmux can lose the last bytes of a session that prints and ends at once.',
  }),
  terminalIdleSeconds: setting<number>({
    variable: 'SVC_SHELL_SESSION_TIMEOUT_SECS',
    schema: wholeNumber(1, 31_536_000),
    fallback: 3600,
    sentence: 'How long a terminal session without a name of its own may be idle before it is closed.',
  }),
  shellStartupSeconds: setting<number>({
    variable: 'SVC_SHELL_STARTUP_SECONDS',
    schema: wholeNumber(1, 3600),
    fallback: 15,
    sentence:
      'How long the start-up files of a terminal may take while a command waits; the shell is then started again without them.',
  }),
  codeBackend: setting<'auto' | 'native' | 'kernel'>({
    variable: 'SVC_CODE_BACKEND',
    schema: oneOf('auto', 'native', 'kernel'),
    fallback: 'auto',
    sentence:
      'Backend for Python code: native is the plain interpreter, kernel is ipykernel, auto is the best available one.',
  }),
  jupyterEndpoint: setting<string | null>({
    variable: 'SVC_JUPYTER_ENDPOINT',
    schema: () => z.url({ protocol: /^https?$/ }),
    fallback: null,
    sentence: 'URL of a Jupyter server whose kernels run Python code when it can be reached; ?token= is its key.',
    isSecret: true,
  }),
  maxKernels: setting<number>({
    variable: 'SVC_KERNEL_MAX_SESSIONS',
    schema: wholeNumber(1, 1000),
    fallback: 5,
    sentence:
      'Maximum number of kernels for sessions, and the same number for single runs. Another session is refused with 429; another run waits.',
  }),
  kernelIdleSeconds: setting<number>({
    variable: 'SVC_KERNEL_SESSION_TIMEOUT_SECS',
    schema: wholeNumber(1, 31_536_000),
    fallback: 1800,
    sentence: 'How long a code session in a kernel may be idle before it is closed.',
  }),
  maxInterpreters: setting<number>({
    variable: 'SVC_CODE_MAX_SESSIONS',
    schema: wholeNumber(1, 10_000),
    fallback: 20,
    sentence:
      'Maximum number of plain interpreters for sessions, and the same number for single runs. Another session is refused with 429; another run waits.',
  }),
  interpreterIdleSeconds: setting<number>({
    variable: 'SVC_CODE_SESSION_TIMEOUT_SECS',
    schema: wholeNumber(1, 31_536_000),
    fallback: 1800,
    sentence: 'How long a code session in a plain interpreter may be idle before it is closed.',
  }),
  spareKernels: setting<number>({
    variable: 'SVC_KERNEL_PREWARM',
    schema: wholeNumber(0, 100),
    fallback: 0,
    sentence: 'Number of kernels to start in advance. JUPYTER_POOL_SIZE is read too.',
    formerVariable: 'JUPYTER_POOL_SIZE',
  }),
  spareInterpreters: setting<number>({
    variable: 'SVC_CODE_PREWARM',
    schema: wholeNumber(0, 100),
    fallback: 0,
    sentence: 'Number of plain interpreters of each language to start in advance.',
  }),
  browserHost: setting<string>({
    variable: 'BROWSER_REMOTE_DEBUGGING_HOST',
    flag: 'browser-host',
    schema: text,
    fallback: '127.0.0.1',
    sentence: 'Host of the DevTools protocol of the browser.',
  }),
  browserPort: setting<number>({
    variable: 'BROWSER_REMOTE_DEBUGGING_PORT',
    flag: 'browser-port',
    schema: wholeNumber(1, 65535),
    fallback: 9222,
    sentence: 'Port of the DevTools protocol of the browser.',
  }),
  agentBrowserBin: setting<string | null>({
    variable: 'SVC_AGENT_BROWSER_BIN',
    schema: absolutePath,
    fallback: null,
    sentence: 'Path of an agent-browser CLI that takes over browser snapshots and the actions on their refs.',
  }),
  computerUseUrl: setting<string>({
    variable: 'SVC_COMPUTER_USE_URL',
    schema: () => z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, '')),
    fallback: 'http://127.0.0.1:18100',
    sentence: 'URL of the computer-use worker, which serves the desktop; boxkeep computer-use starts it.',
  }),
  browserIdleSeconds: setting<number>({
    variable: 'SVC_BROWSER_IDLE_SECONDS',
    schema: wholeNumber(1, 31_536_000),
    fallback: 300,
    sentence: 'How long the daemon stays connected to the browser without a call.',
  }),
  browserDownloadMib: setting<number>({
    variable: 'SVC_BROWSER_DOWNLOAD_MIB',
    schema: wholeNumber(1, 1024 * 1024 * 1024),
    fallback: 2048,
    sentence: 'MiB that the pages of the browser may download in an hour; the daemon cancels what exceeds them.',
  }),
  mcpServers: setting<readonly (readonly [name: string, entry: ServerEntry])[]>({
    variable: 'EXTRA_MCP_SERVERS',
    flag: 'mcp-servers',
    schema: serverEntries,
    fallback: [],
    sentence:
      'Other MCP servers of this machine, as JSON or a file with JSON: {"name": {"url": "http://127.0.0.1:8100/mcp", "prefix": "p"}}.',
  }),
  mcpAnswers: setting<'text' | 'structured'>({
    variable: 'SVC_MCP_ANSWERS',
    schema: oneOf('text', 'structured'),
    fallback: 'text',
    sentence:
      'Answers of the built-in MCP tools: text, or structured for programs, which adds structuredContent and output schemas and sends long texts twice.',
  }),
  browserMcpPort: setting<number>({
    variable: 'SVC_BROWSER_MCP_PORT',
    schema: wholeNumber(0, 65535),
    fallback: 0,
    sentence:
      'Port on 127.0.0.1 for the MCP server of the browser, which has no key and serves programs of this machine; 0 leaves it closed.',
  }),
  e2b: setting<'on' | 'off'>({
    variable: 'SVC_E2B',
    schema: oneOf('on', 'off'),
    fallback: 'off',
    sentence: 'on serves the protocol of E2B, so that its SDKs work with this daemon.',
  }),
  e2bPort: setting<number>({
    variable: 'SVC_E2B_PORT',
    schema: wholeNumber(1, 65535),
    fallback: 49983,
    sentence: 'Port for the processes and files of E2B.',
  }),
  e2bCodePort: setting<number>({
    variable: 'SVC_E2B_CODE_PORT',
    schema: wholeNumber(0, 65535),
    fallback: 49999,
    sentence: 'Port for the code interpreter of E2B; 0 leaves it closed.',
  }),
  e2bApiPort: setting<number>({
    variable: 'SVC_E2B_API_PORT',
    schema: wholeNumber(0, 65535),
    fallback: 0,
    sentence: 'Port for the control plane of E2B, which hands out this one sandbox; 0 leaves it closed.',
  }),
  agentSandbox: setting<'on' | 'off'>({
    variable: 'SVC_AGENT_SANDBOX',
    schema: oneOf('on', 'off'),
    fallback: 'off',
    sentence: 'on serves the runtime interface of Kubernetes agent-sandbox, so that its clients work with this daemon.',
  }),
  agentSandboxHost: setting<string>({
    variable: 'SVC_AGENT_SANDBOX_HOST',
    schema: text,
    fallback: '127.0.0.1',
    sentence: 'Address for the ports of agent-sandbox, which ask for no key.',
  }),
  agentSandboxRestPort: setting<number>({
    variable: 'SVC_AGENT_SANDBOX_REST_PORT',
    schema: wholeNumber(1, 65535),
    fallback: 8080,
    sentence: 'Port for the files, the health and the metadata of agent-sandbox.',
  }),
  agentSandboxGrpcPort: setting<number>({
    variable: 'SVC_AGENT_SANDBOX_GRPC_PORT',
    schema: wholeNumber(1, 65535),
    fallback: 9090,
    sentence: 'Port for the processes of agent-sandbox: gRPC without TLS.',
  }),
  agentSandboxRoot: setting<string>({
    variable: 'SVC_AGENT_SANDBOX_ROOT',
    schema: () => z.string().regex(/^\/(?:[^/]+(?:\/[^/]+)*)?$/, 'must be an absolute path without a slash at its end'),
    fallback: '/workspace',
    sentence: 'Directory to which the paths of agent-sandbox are confined; it is made if missing.',
  }),
  agentSandboxMetadataPrefix: setting<string>({
    variable: 'SVC_AGENT_SANDBOX_METADATA_PREFIX',
    schema: text,
    fallback: 'SANDBOX_',
    sentence: 'How the names of variables begin that the metadata of agent-sandbox shows.',
  }),
  agentSandboxLegacyPort: setting<number>({
    variable: 'SVC_AGENT_SANDBOX_LEGACY_PORT',
    schema: wholeNumber(0, 65535),
    fallback: 0,
    sentence: 'Port for the older interface of agent-sandbox; 0 leaves it closed.',
  }),
  skillsPath: setting<string | null>({
    variable: 'SVC_SKILLS_PATH',
    schema: absolutePath,
    fallback: null,
    sentence: 'Directory of skill folders, each with a SKILL.md, that the MCP tool sandbox_load_skill reads.',
  }),
} as const;

type Settings = typeof settings;
export type Config = { readonly [K in keyof Settings]: Settings[K] extends Setting<infer T> ? T : never };

export interface ConfigSources {
  readonly arguments: readonly string[];
  readonly environment: Environment;
  /** Keys that the launcher removed from the arguments and the environment. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Reads the key from a file. */
  readonly readKey?: (path: string) => string;
}

/** Reads the settings; flags win over variables. Throws an Error with one line for a bad value or an unknown flag. */
export function readConfig(sources: ConfigSources): Config {
  const values = Object.values(settings).map(({ flag }) => flag);
  const flags = readFlags(sources.arguments, { values }, unknownArgument);
  if (flags.words[0] !== undefined) throw unknownArgument(flags.words[0]);
  const entries = Object.entries(settings).map(([name, row]) => {
    const given = rawValue(row, flags, sources);
    return [name, given === null ? row.fallback : parseValue(row, given)];
  });
  return withKeyOfFile(Object.fromEntries(entries) as Config, sources.readKey ?? readKeyFile);
}

function withKeyOfFile(config: Config, readKey: (path: string) => string): Config {
  const { apiKey, apiKeyFile } = config;
  if (apiKeyFile === null) return config;
  if (apiKey !== null) throw new Error('SVC_API_KEY and SVC_API_KEY_FILE are both set; leave one of them out');
  return { ...config, apiKey: readKey(apiKeyFile) };
}

interface Given {
  readonly source: string;
  readonly value: string;
}

const unknownArgument = (argument: string) =>
  new Error(`unknown argument ${argument}; boxkeep help settings lists them`);

function rawValue(row: Setting<unknown>, { given }: Flags, sources: ConfigSources): Given | null {
  const former = row.formerVariable === undefined ? [] : [row.formerVariable];
  const names = [row.variable, ...former];
  const candidates: Given[] = [
    { source: `--${row.flag}`, value: given.get(row.flag)?.at(-1) ?? sources.secrets.get(`--${row.flag}`) ?? '' },
    ...names.map((name) => ({ source: name, value: sources.secrets.get(name) ?? sources.environment[name] ?? '' })),
  ];
  // An empty variable counts as unset: compose files and images leave unset variables empty.
  return candidates.find(({ value }) => value !== '') ?? null;
}

function parseValue(row: Setting<unknown>, { source, value }: Given): unknown {
  const result = row.schema().safeParse(value);
  if (result.success) return result.data;
  const shown = row.isSecret ? 'the given value' : JSON.stringify(value);
  throw new Error(`${source}: ${shown} is not valid: ${result.error.issues[0]?.message ?? 'bad value'}`);
}

/** The table as data, for `--help`, `spec/config.json` and the reference. */
export function describeSettings() {
  return Object.values(settings).map(({ variable, flag, fallback, sentence }) => ({
    variable,
    flag: `--${flag}`,
    default: fallback === '' || typeof fallback === 'object' ? null : fallback,
    sentence,
  }));
}

/** The settings as aligned lines for people. */
export function settingsHelp(): string {
  const rows = describeSettings().map((row) => [
    `  ${row.flag} / ${row.variable}`,
    row.default === null ? row.sentence : `${row.sentence} Default ${String(row.default)}.`,
  ]);
  const width = Math.max(...rows.map(([name = '']) => name.length)) + 2;
  return rows.map(([name = '', sentence = '']) => name.padEnd(width) + sentence).join('\n');
}

/** Variables of the 1.x server that have no effect any more, with advice. A `*` matches any ending. */
const goneVariables: Readonly<Record<string, string>> = {
  SANDBOX_SHUTDOWN_HOOKS: 'Stop hooks are gone, and nothing replaces them in this version.',
  DISABLE_NODEJS_REPL: 'There are no Node REPL servers any more; JavaScript runs through the code routes.',
  'NODEJS_REPL_PORT*': 'There are no Node REPL servers any more; JavaScript runs through the code routes.',
  MCP_FILTER_SERVERS: 'List only the servers that are wanted in EXTRA_MCP_SERVERS.',
  TICKET_TTL_SECONDS: 'There are no tickets any more; send the API key.',
};

/** One line for each variable that is set but has no effect; logged once, at the start. */
export function settingWarnings(
  environment: Environment,
  hasKey: boolean,
): { readonly variable: string; readonly message: string }[] {
  const set = Object.keys(environment).filter((name) => environment[name] !== undefined && environment[name] !== '');
  const gone = set.toSorted().flatMap((variable) => {
    const advice = Object.entries(goneVariables).find(([pattern]) => matchesName(variable, pattern))?.[1];
    return advice === undefined ? [] : [{ variable, message: `${variable} has no effect. ${advice}` }];
  });
  if (hasKey || !set.includes('JWT_PUBLIC_KEY')) return gone;
  const message = 'JWT_PUBLIC_KEY has no effect, and no request needs a key. Set SVC_API_KEY to require one.';
  return [...gone, { variable: 'JWT_PUBLIC_KEY', message }];
}

/** Whether other machines can connect to a daemon that requires no key. */
export function isOpenToOthers({ apiKey, host }: Config): boolean {
  return apiKey === null && host !== '' && !isLoopback(host);
}

/** Whether other machines can connect to the ports that ask for no key. */
export function isAgentSandboxOpenToOthers({ agentSandbox, agentSandboxHost }: Config): boolean {
  return agentSandbox === 'on' && !isLoopback(agentSandboxHost);
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || /^(127\.|::1$)/.test(host);
}

function matchesName(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
