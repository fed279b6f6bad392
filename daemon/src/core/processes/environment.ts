/** Builds the environment of a process from the variables of the image, the account and the caller. */
import type { Account } from '../identity/accounts.ts';

export type EnvironmentChanges = Readonly<Record<string, string | null>>;

/** What current terminal emulators support. The emulator of this daemon supports it too. */
export const terminalVariables = { TERM: 'xterm-256color', COLORTERM: 'truecolor' };

const standardDirectories = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Keys are secrets of the daemon. The other variables describe its own process and would mislead a command. */
const withheld = /^(?:SVC_API_KEY|SANDBOX_API_KEY|SVC_JUPYTER_ENDPOINT|OTEL_.*HEADERS|PWD|OLDPWD|SHLVL|_)$/;

/** The base of every command: the daemon's environment without keys, and PATH with the standard directories. */
export function imageEnvironment(own: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept = Object.entries(own).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !withheld.test(entry[0]),
  );
  const image = Object.fromEntries(kept);
  image['PATH'] = withStandardDirectories(image['PATH'] ?? '');
  return image;
}

type Environment = Readonly<Record<string, string>>;

/** The latest environment without changes, by image: most commands have the same one, with many variables. */
const latest = new WeakMap<Environment, Environment>();

/** Null in `changes` unsets a variable. */
export function commandEnvironment(
  image: Environment,
  account: Account,
  changes: readonly EnvironmentChanges[],
): Environment {
  const unchanged = accountEnvironment(image, account);
  const changed = changes.flatMap((change) => Object.entries(change));
  if (changed.length === 0) return unchanged;
  const environment = { ...unchanged };
  for (const [name, value] of changed) {
    if (value === null) delete environment[name];
    else environment[name] = value;
  }
  return environment;
}

function accountEnvironment(image: Environment, { home, name, shell }: Account): Environment {
  const known = latest.get(image);
  if (known && known['HOME'] === home && known['USER'] === name && known['SHELL'] === shell) return known;
  const environment = { ...image, HOME: home, USER: name, LOGNAME: name, SHELL: shell };
  latest.set(image, environment);
  return environment;
}

function withStandardDirectories(path: string): string {
  const own = path.split(':').filter(Boolean);
  return [...own, ...standardDirectories.filter((directory) => !own.includes(directory))].join(':');
}
