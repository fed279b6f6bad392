/** Builds the environment of a process from the variables of the image, the account and the caller. */
import type { Account } from '../identity/accounts.ts';

export type EnvironmentChanges = Readonly<Record<string, string | null>>;

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

/** Null in `changes` unsets a variable. */
export function commandEnvironment(
  image: Readonly<Record<string, string>>,
  account: Account,
  changes: readonly EnvironmentChanges[],
): Record<string, string> {
  const environment: Record<string, string> = {
    ...image,
    HOME: account.home,
    USER: account.name,
    LOGNAME: account.name,
    SHELL: account.shell,
  };
  for (const [name, value] of changes.flatMap((change) => Object.entries(change))) {
    if (value === null) delete environment[name];
    else environment[name] = value;
  }
  return environment;
}

function withStandardDirectories(path: string): string {
  const own = path.split(':').filter(Boolean);
  return [...own, ...standardDirectories.filter((directory) => !own.includes(directory))].join(':');
}
