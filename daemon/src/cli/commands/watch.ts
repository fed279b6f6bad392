/** `boxkeep watch`: prints a line for each change of a file or below a directory. */
import type { FileChange } from '../../../../clients/typescript/src/index.ts';
import { Client } from '../client/client.ts';
import { outageReport, reconnectTime } from '../client/follow.ts';
import { oneLine, print, say } from '../client/standard-streams.ts';
import { untilSignalled } from '../client/until-signalled.ts';
import { connectionHelp } from '../page.ts';
import type { Verb } from '../verb.ts';

export const watch: Verb = {
  usage: 'watch [url] <path>',
  summary: 'print a line for each change of files',
  flags: {
    '--include GLOB': 'only files that one of these globs names, any number of times',
    '--exclude GLOB':
      'without these, any number of times, in place of .git, node_modules and the like; an empty one: none',
    '--no-recursive': 'only the entries of the directory itself',
    '--json': 'each change as a line of JSON, as the daemon sends it',
    '--reconnect SECONDS': 'how long a daemon that is away is waited for; 60',
  },
  details: `The path is absolute, or relative to the workspace. A line has the kind of the change (create, write, remove, rename or
chmod) and the path below the watched one. Where changes may have been missed, a line says so. Ctrl-C ends the watch.
${connectionHelp}`,
  exits: '1 when the path itself is gone',
  words: ['the path'],

  async run(given, environment) {
    const [path = ''] = given.words;
    const client = new Client(given, environment);
    const retryMs = reconnectTime(given);
    const include_patterns = given.all('include');
    const exclude = given.has('exclude') ? { exclude: given.all('exclude').filter(Boolean) } : {};
    const more = { recursive: !given.has('no-recursive'), include_patterns, ...exclude };
    await client.answer((options) => client.sandbox.files.stat(path, {}, options));
    await untilSignalled(async (signal) => {
      const options = { signal, retryMs, onAway: outageReport(retryMs) };
      const changes = await client.sandbox.orThrow.files.watch(path, more, options);
      for await (const change of changes) await (given.has('json') ? print(JSON.stringify(change)) : write(change));
    });
    await say(`watch: ${path} is gone`);
    return 1;
  },
};

async function write(change: FileChange): Promise<void> {
  if (change.type === 'lost') return await say('watch: changes may have been missed here; list the tree again');
  const { type, path, relative_path: below, old_path: old } = change;
  const root = path.slice(0, path.length - below.length);
  const before = old === null ? '' : `${old.startsWith(root) ? old.slice(root.length) : old} -> `;
  await print(oneLine(`${type.padEnd(6)}  ${before}${below || path}`));
}
