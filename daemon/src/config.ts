/** Every setting in one table: its variable, its flag, its type, its default and what it means. */
import { z } from 'zod';
import { logLevels } from './kit/logger.ts';

interface Setting<T> {
  readonly variable: string;
  readonly flag: string;
  /** Made for a value that is given: most are not, and every schema takes time at the start. */
  readonly schema: () => z.ZodType<T>;
  readonly fallback: T;
  /** One sentence for --help and the reference. */
  readonly sentence: string;
  readonly isSecret?: boolean;
  /** The name that the 1.x system has for it. */
  readonly formerVariable?: string;
}

function setting<T>(row: Setting<T>): Setting<T> {
  return row;
}

const text = () => z.string().min(1);
const list = () =>
  z.string().transform((value) =>
    value
      .split(',')
      .map((entry) => entry.trim())
      .filter(Boolean),
  );
const wholeNumber = (least: number, most: number) => () =>
  z.string().regex(/^\d+$/, 'must be a whole number').transform(Number).pipe(z.number().min(least).max(most));

export const settings = {
  host: setting<string>({
    variable: 'SVC_HOST',
    flag: 'host',
    schema: text,
    fallback: '',
    sentence: 'Address to listen on: 0.0.0.0 when a key is set, 127.0.0.1 when none is.',
  }),
  port: setting<number>({
    variable: 'SVC_PORT',
    flag: 'port',
    schema: wholeNumber(0, 65535),
    fallback: 18091,
    sentence: 'Port to listen on; 0 takes any free one.',
  }),
  apiKey: setting<string | null>({
    variable: 'SVC_API_KEY',
    flag: 'api-key',
    schema: text,
    fallback: null,
    sentence: 'The key that every request must carry; SANDBOX_API_KEY is read too. Without it the daemon is open.',
    isSecret: true,
    formerVariable: 'SANDBOX_API_KEY',
  }),
  allowedHosts: setting<readonly string[]>({
    variable: 'SVC_ALLOWED_HOSTS',
    flag: 'allowed-hosts',
    schema: list,
    fallback: [],
    sentence:
      'Names that Host and Origin may have beside loopback ones and IP addresses, with commas: name, *.suffix, or * for any name without a dot.',
  }),
  corsOrigins: setting<readonly string[]>({
    variable: 'SVC_CORS_ORIGINS',
    flag: 'cors-origins',
    schema: list,
    fallback: [],
    sentence: 'Origins whose pages may call and read answers, with commas, as https://app.example; none by default.',
  }),
  bodyStallSeconds: setting<number>({
    variable: 'SVC_BODY_STALL_SECONDS',
    flag: 'body-stall-seconds',
    schema: wholeNumber(1, 3600),
    fallback: 30,
    sentence: 'How long nothing of a request body may arrive before the request is given up.',
  }),
  idleSeconds: setting<number>({
    variable: 'SVC_IDLE_SECONDS',
    flag: 'idle-seconds',
    schema: wholeNumber(1, 255),
    fallback: 120,
    sentence: 'How long a connection without an open request is kept, to within 4 seconds.',
  }),
  streamKeptMib: setting<number | null>({
    variable: 'SVC_STREAM_KEPT_MIB',
    flag: 'stream-kept-mib',
    schema: wholeNumber(1, 1_048_576),
    fallback: null,
    sentence: 'MiB of output kept of each stream of a command: 256, or 64 where the runtime directory is in memory.',
  }),
  totalKeptMib: setting<number | null>({
    variable: 'SVC_TOTAL_KEPT_MIB',
    flag: 'total-kept-mib',
    schema: wholeNumber(1, 1_048_576),
    fallback: null,
    sentence:
      'MiB of output kept of all commands: 2048, or a tenth of the memory where the runtime directory is in memory.',
  }),
  maxStreams: setting<number>({
    variable: 'SVC_MAX_STREAMS',
    flag: 'max-streams',
    schema: wholeNumber(1, 100_000),
    fallback: 1024,
    sentence: 'Most open streams; one more is refused with 429.',
  }),
  defaultUser: setting<string | null>({
    variable: 'SVC_DEFAULT_USER',
    flag: 'default-user',
    schema: text,
    fallback: null,
    sentence: 'Account that commands, terminals and code run as; the daemon’s own otherwise.',
  }),
  runtimeDir: setting<string | null>({
    variable: 'SVC_RUNTIME_DIR',
    flag: 'runtime-dir',
    schema: () => z.string().regex(/^\//, 'must be an absolute path'),
    fallback: null,
    sentence:
      'Private directory for commands and their logs: /var/lib/sandboxd/<port>, else /run, else the temp directory.',
  }),
  apiSurface: setting<'full' | 'v2'>({
    variable: 'SVC_API_SURFACE',
    flag: 'api-surface',
    schema: () => z.enum(['full', 'v2']),
    fallback: 'full',
    sentence: 'full, or v2 to take /v1 away but for ping, capabilities and its description.',
  }),
  logLevel: setting<(typeof logLevels)[number]>({
    variable: 'SVC_LOG_LEVEL',
    flag: 'log-level',
    schema: () => z.enum(logLevels),
    fallback: 'info',
    sentence: `Least level that is logged: ${logLevels.join(', ')}.`,
  }),
  maxCommands: setting<number>({
    variable: 'SVC_MAX_COMMANDS',
    flag: 'max-commands',
    schema: wholeNumber(1, 100_000),
    fallback: 512,
    sentence: 'Most commands that run at once; one more is refused with 429.',
  }),
  maxCommandSessions: setting<number>({
    variable: 'SVC_MAX_COMMAND_SESSIONS',
    flag: 'max-command-sessions',
    schema: wholeNumber(1, 100_000),
    fallback: 256,
    sentence: 'Most command sessions; one more is refused with 429.',
  }),
  maxTerminals: setting<number>({
    variable: 'SVC_SHELL_MAX_SESSIONS',
    flag: 'shell-max-sessions',
    schema: wholeNumber(1, 100_000),
    fallback: 20,
    sentence: 'Most terminal sessions; one more is refused with 429. MAX_SHELL_SESSIONS is read too.',
    formerVariable: 'MAX_SHELL_SESSIONS',
  }),
  terminalBackend: setting<'auto' | 'native' | 'tmux'>({
    variable: 'SVC_SHELL_BACKEND',
    flag: 'shell-backend',
    schema: () => z.enum(['auto', 'native', 'tmux']),
    fallback: 'auto',
    sentence: 'What holds the terminals: native or tmux; auto is tmux where that is on PATH, else native.',
  }),
  terminalIdleSeconds: setting<number>({
    variable: 'SVC_SHELL_SESSION_TIMEOUT_SECS',
    flag: 'shell-session-timeout-secs',
    schema: wholeNumber(1, 31_536_000),
    fallback: 3600,
    sentence: 'How long a terminal session without a name of its own may be idle before it is closed.',
  }),
  codeBackend: setting<'auto' | 'native' | 'kernel'>({
    variable: 'SVC_CODE_BACKEND',
    flag: 'code-backend',
    schema: () => z.enum(['auto', 'native', 'kernel']),
    fallback: 'auto',
    sentence:
      'What runs Python code: native is the plain interpreter, kernel is ipykernel; auto takes the best there is.',
  }),
  jupyterEndpoint: setting<string | null>({
    variable: 'SVC_JUPYTER_ENDPOINT',
    flag: 'jupyter-endpoint',
    schema: () => z.url({ protocol: /^https?$/ }),
    fallback: null,
    sentence: 'URL of a Jupyter server whose kernels run Python code when it can be reached; ?token= is its key.',
    isSecret: true,
  }),
  maxKernels: setting<number>({
    variable: 'SVC_KERNEL_MAX_SESSIONS',
    flag: 'kernel-max-sessions',
    schema: wholeNumber(1, 1000),
    fallback: 5,
    sentence: 'Most kernels; one more is refused with 429.',
  }),
  kernelIdleSeconds: setting<number>({
    variable: 'SVC_KERNEL_SESSION_TIMEOUT_SECS',
    flag: 'kernel-session-timeout-secs',
    schema: wholeNumber(1, 31_536_000),
    fallback: 300,
    sentence: 'How long a code session in a kernel may be idle before it is closed.',
  }),
  maxInterpreters: setting<number>({
    variable: 'SVC_CODE_MAX_SESSIONS',
    flag: 'code-max-sessions',
    schema: wholeNumber(1, 10_000),
    fallback: 20,
    sentence: 'Most plain interpreters of code; one more is refused with 429.',
  }),
  interpreterIdleSeconds: setting<number>({
    variable: 'SVC_CODE_SESSION_TIMEOUT_SECS',
    flag: 'code-session-timeout-secs',
    schema: wholeNumber(1, 31_536_000),
    fallback: 1800,
    sentence: 'How long a code session in a plain interpreter may be idle before it is closed.',
  }),
  spareKernels: setting<number>({
    variable: 'SVC_KERNEL_PREWARM',
    flag: 'kernel-prewarm',
    schema: wholeNumber(0, 100),
    fallback: 0,
    sentence: 'Kernels that are started before anybody asks; JUPYTER_POOL_SIZE is read too.',
    formerVariable: 'JUPYTER_POOL_SIZE',
  }),
  spareInterpreters: setting<number>({
    variable: 'SVC_CODE_PREWARM',
    flag: 'code-prewarm',
    schema: wholeNumber(0, 100),
    fallback: 0,
    sentence: 'Plain interpreters of each language that are started before anybody asks.',
  }),
} as const;

type Settings = typeof settings;
export type Config = { readonly [K in keyof Settings]: Settings[K] extends Setting<infer T> ? T : never };

export interface ConfigSources {
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Keys that the launcher took out of both. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** Flags win over variables. Throws an Error with one clear line for a bad value or an unknown flag. */
export function readConfig(sources: ConfigSources): Config {
  const flags = readFlags(sources.arguments);
  const entries = Object.entries(settings).map(([name, row]) => {
    const given = rawValue(row, flags, sources);
    return [name, given === null ? row.fallback : parseValue(row, given)];
  });
  return Object.fromEntries(entries) as Config;
}

interface Given {
  readonly source: string;
  readonly value: string;
}

function rawValue(row: Setting<unknown>, flags: ReadonlyMap<string, string>, sources: ConfigSources): Given | null {
  const former = row.formerVariable === undefined ? [] : [row.formerVariable];
  const names = [row.variable, ...former];
  const candidates: Given[] = [
    { source: `--${row.flag}`, value: flags.get(row.flag) ?? sources.secrets.get(`--${row.flag}`) ?? '' },
    ...names.map((name) => ({ source: name, value: sources.secrets.get(name) ?? sources.environment[name] ?? '' })),
  ];
  // An empty variable is an unset one: compose files and images leave them so.
  return candidates.find(({ value }) => value !== '') ?? null;
}

function parseValue(row: Setting<unknown>, { source, value }: Given): unknown {
  const result = row.schema().safeParse(value);
  if (result.success) return result.data;
  const shown = row.isSecret ? 'the given value' : JSON.stringify(value);
  throw new Error(`${source}: ${shown} is not valid: ${result.error.issues[0]?.message ?? 'bad value'}`);
}

function readFlags(args: readonly string[]): ReadonlyMap<string, string> {
  const known = new Set(Object.values(settings).map((row) => row.flag));
  const flags = new Map<string, string>();
  for (let at = 0; at < args.length; at++) {
    const match = /^--([a-z-]+)(?:=(.*))?$/s.exec(args[at] ?? '');
    const name = match?.[1] ?? '';
    if (!known.has(name)) throw new Error(`unknown argument ${args[at] ?? ''}; sandboxd --help lists them`);
    const value = match?.[2] ?? args[++at];
    if (value === undefined) throw new Error(`--${name} needs a value`);
    flags.set(name, value);
  }
  return flags;
}

/** The table as data, for `--help`, `spec/config.json` and the reference. */
export function describeSettings() {
  return Object.values(settings).map(({ variable, flag, fallback, sentence }) => ({
    variable,
    flag: `--${flag}`,
    default: fallback === '' || Array.isArray(fallback) ? null : fallback,
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

/** Variables of the 1.x server that have no effect any more, and what to do instead; a `*` stands for any ending. */
const goneVariables: Readonly<Record<string, string>> = {
  SANDBOX_SHUTDOWN_HOOKS: 'Stop hooks are gone; the hooks of the images are RUN_HOOK_INIT and its like.',
  DISABLE_NODEJS_REPL: 'There are no Node REPL servers any more; JavaScript runs through the code routes.',
  'NODEJS_REPL_PORT*': 'There are no Node REPL servers any more; JavaScript runs through the code routes.',
  MCP_FILTER_SERVERS: 'List only the servers that are wanted in EXTRA_MCP_SERVERS.',
  TICKET_TTL_SECONDS: 'There are no tickets any more; send the API key.',
};

/** One line for each variable that is set and does nothing; told once, at the start. */
export function settingWarnings(
  environment: Readonly<Record<string, string | undefined>>,
  hasKey: boolean,
): { readonly variable: string; readonly message: string }[] {
  const set = Object.keys(environment).filter((name) => environment[name] !== undefined && environment[name] !== '');
  const gone = set.toSorted().flatMap((variable) => {
    const advice = Object.entries(goneVariables).find(([pattern]) => matchesName(variable, pattern))?.[1];
    return advice === undefined ? [] : [{ variable, message: `${variable} has no effect. ${advice}` }];
  });
  if (hasKey || !set.includes('JWT_PUBLIC_KEY')) return gone;
  const message = 'JWT_PUBLIC_KEY has no effect: the daemon is open to everyone. Set SVC_API_KEY to close it.';
  return [...gone, { variable: 'JWT_PUBLIC_KEY', message }];
}

function matchesName(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
