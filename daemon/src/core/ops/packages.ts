/** Lists the packages of a language's toolchain, as the default account finds them. */
import { CoreError } from '../../kit/errors.ts';
import { decodeUtf8 } from '../../kit/text/text.ts';
import type { Tools, ToolOutcome } from '../processes/tool.ts';

export const packageLanguages = ['python', 'nodejs'] as const;
export type PackageLanguage = (typeof packageLanguages)[number];

export interface Package {
  readonly name: string;
  readonly version: string;
}

const withinMs = 30_000;
const limitBytes = 16 * 1024 * 1024;

/**
 * Reads only names and versions, so no package code runs. `-I` ignores the account's directory, variables and start
 * scripts. The script still includes the account's own packages, because most packages are installed there.
 */
const pythonScript = `
import importlib.metadata as metadata, json, os, site, sys
own = site.getusersitepackages()
path = sys.path + ([own] if os.path.isdir(own) and own not in sys.path else [])
found = {}
for entry in metadata.distributions(path=path):
    try: name, version = entry.metadata["Name"], entry.version
    except Exception: continue # Half removed: what it was called is gone.
    if name: found.setdefault(name.lower().replace("_", "-"), {"name": name, "version": version or ""})
print(json.dumps(list(found.values())))
`;

interface Lister {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly hint: string;
  readonly read: (output: string) => Package[];
}

const listers: Readonly<Record<PackageLanguage, Lister>> = {
  python: {
    argv: ['python3', '-I', '-c', pythonScript],
    env: {},
    hint: 'Install Python 3.8 or newer in the image, for example with apt-get install python3.',
    read: (output) => JSON.parse(output) as Package[],
  },
  nodejs: {
    argv: ['npm', 'ls', '--global', '--depth=0', '--json'],
    // These settings prevent network access and writes to the home directory of the account.
    env: { npm_config_update_notifier: 'false', npm_config_logs_max: '0', npm_config_offline: 'true' },
    hint: 'Install Node.js with npm in the image, for example with apt-get install nodejs npm.',
    read: readNpm,
  },
};

export class Packages {
  readonly #running = new Map<PackageLanguage, Promise<Package[]>>();

  constructor(private readonly tools: Pick<Tools, 'run'>) {}

  /** Packages by name. Parallel calls share one run. Throws `unavailable` when the toolchain is missing. */
  list(language: PackageLanguage): Promise<Package[]> {
    return this.#running.getOrInsertComputed(language, () =>
      list(this.tools, listers[language]).finally(() => this.#running.delete(language)),
    );
  }
}

/** The packages whose name contains the part. Upper and lower case, and `-` and `_`, are alike; null is all. */
export function packagesNamed(packages: readonly Package[], part: string | null): Package[] {
  const folded = (name: string) => name.toLowerCase().replaceAll('_', '-');
  return packages.filter(({ name }) => part === null || folded(name).includes(folded(part)));
}

async function list(tools: Pick<Tools, 'run'>, lister: Lister): Promise<Package[]> {
  const outcome = await tools.run({ argv: lister.argv, env: lister.env, withinMs, limitBytes });
  const packages = readOutcome(outcome, lister);
  return packages.toSorted((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));
}

function readOutcome(outcome: ToolOutcome, { argv, hint, read }: Lister): Package[] {
  const program = argv[0] ?? '';
  switch (outcome.kind) {
    case 'failed':
      if (outcome.errnoName === 'ENOENT')
        throw new CoreError('unavailable', `no ${program} on PATH`, { isRetryable: false, hint });
      throw new CoreError('unavailable', `${program} cannot be run: ${outcome.message}`, { hint });
    case 'too_slow':
      throw new CoreError('unavailable', `${program} did not end within ${withinMs / 1000} s`, { hint: retryHint });
    case 'too_much':
      throw new CoreError('unavailable', `${program} answered more than ${limitBytes} bytes`, { isRetryable: false });
    case 'ended':
      return readPackages(outcome, program, read);
  }
}

const retryHint = 'Try again when the machine is less busy.';

/** npm exits with 1 when a peer dependency is missing but still prints the list, so the output decides. */
function readPackages(
  { stdout, stderr, exitCode }: Extract<ToolOutcome, { kind: 'ended' }>,
  program: string,
  read: Lister['read'],
): Package[] {
  try {
    return read(decodeUtf8(stdout));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const reason = decodeUtf8(stderr).trim().split('\n').at(-1)?.slice(0, 500) || 'it printed no list';
    throw new CoreError('unavailable', `${program} ended with ${exitCode ?? 'a signal'}: ${reason}`, {
      hint: `Run ${program} as a command to see what is wrong.`,
    });
  }
}

function readNpm(output: string): Package[] {
  const { dependencies = {} } = JSON.parse(output) as { dependencies?: Record<string, { version?: string }> };
  return Object.entries(dependencies).map(([name, { version = '' }]) => ({ name, version }));
}
