/** Builds the environment of a command, a terminal or a kernel: the image's, the account's, then what the caller asks for. */
import type { Account } from './accounts.ts';

export type EnvironmentChanges = Readonly<Record<string, string | null>>;

const standardDirectories = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Keys are the daemon's alone; the rest describes the daemon's own process and would mislead a command. */
const withheld = /^(?:SVC_API_KEY|SANDBOX_API_KEY|SVC_JUPYTER_ENDPOINT|OTEL_.*HEADERS|PWD|OLDPWD|SHLVL|_)$/;

/** What every command starts from: the daemon's environment without keys, PATH with the standard directories. */
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
