/**
 * What core refuses, in the words of this surface. Core says what to do next by the routes and fields of v2; whoever
 * calls v1 is told of what they can call themselves.
 */
import type { Route } from '../../http/route.ts';
import { CoreError } from '../../kit/errors.ts';
import type { V1Deps } from './app.ts';
import { unspellIn } from './spelled-ids.ts';

type Wording = readonly (readonly [core: string | RegExp, here: string])[];

/** What has no route of its own here is told without one. Longer names stand before those that they begin with. */
const routes: Wording = [
  ['GET /v2/fs/list', 'POST /v1/file/list'],
  ['GET /v2/fs/stat', 'POST /v1/file/stat'],
  ['GET /v2/fs/read', 'POST /v1/file/read'],
  ['GET /v2/fs/download', 'GET /v1/file/download'],
  ['GET /v2/sandbox', 'GET /v1/sandbox'],
  ['DELETE /v2/watch/{id}', 'DELETE /v1/file/watch/{watcher_id}'],
  ['GET /v2/watch', 'GET /v1/file/watch'],
  ['POST /v2/watch', 'POST /v1/file/watch'],
  ['POST /v2/commands/sessions', 'POST /v1/bash/sessions/create'],
  ['POST /v2/commands', 'POST /v1/bash/exec'],
  [/GET \/v2\/commands\/\S+/, 'POST /v1/bash/output'],
  ['DELETE /v2/pty/sessions/{id}', 'DELETE /v1/shell/sessions/{session_id}'],
  ['POST /v2/pty/sessions', 'POST /v1/shell/sessions/create'],
  [
    'DELETE /v2/code/sessions/{id} closes one',
    'DELETE /v1/jupyter/sessions/{session_id} closes one, and so does DELETE /v1/nodejs/sessions/{session_id}',
  ],
  [
    'POST /v2/code/sessions creates one; POST /v2/code/execute with a session_id does too.',
    'POST /v1/code/execute with a session_id creates one.',
  ],
  [/, POST \/v2\/code\/sessions\/\S+\/interrupt, or/, ', or'],
];

/** Of fields and verbs. */
const others: Wording = [
  [
    'Wait longer (timeout, on_busy), interrupt what runs (signal),',
    'Wait for it (wait), type into it (write), end it (kill),',
  ],
  ['Send a signal such as SIGINT, or wait', 'End it (kill), or wait'],
  ['Leave user out, or start the daemon', 'Start the daemon'],
  ['; the offset of the last answer is where to go on', '; data.offset is where to go on'],
  ['Set tree to false to end the command itself.', 'Run on Linux what may have to be killed.'],
  ['Start a command with stdin "pipe" to write to it.', 'Start a command with async_mode to write to it.'],
  ['Python runs without a kernel, too.', 'POST /v1/code/execute runs Python without it.'],
  [', or run a program directly with shell "none"', ''],
  ['or read by offset with wait=true', 'or ask again and again'],
  ['Delete one, or raise SVC_MAX_COMMAND_SESSIONS', 'Close one, or raise SVC_MAX_COMMAND_SESSIONS'],
  [/\binput (types into|with \\u0003)/, 'write $1'],
  ['Look at its screen;', 'Look at its screen (view);'],
  ['Look at its recording,', 'Look at its screen (view),'],
];

/** All that is told otherwise in a hint. */
export const wording: Wording = [...routes, ...others];

/** What the routes of commands and shells call the directory in which something begins. */
const ofDirectory: Wording = [
  ['give another cwd', 'give another exec_dir'],
  [/^cwd (?=\/)/, 'exec_dir '],
];
const hasExecDir = /^\/v1\/(?:bash|shell)\//;

/** The same routes, whose refusals are told in the words of v1. */
export function inWordsOfV1(own: readonly Route<V1Deps>[]): readonly Route<V1Deps>[] {
  return own.map((route) => ({
    ...route,
    async respond(...given: Parameters<Route<V1Deps>['respond']>) {
      try {
        return await route.respond(...given);
      } catch (error) {
        throw error instanceof CoreError ? refusalOfV1(error, { namesExecDir: hasExecDir.test(route.path) }) : error;
      }
    },
  }));
}

export function refusalOfV1(
  { code, message, hint, facts }: CoreError,
  { namesExecDir }: { readonly namesExecDir: boolean },
): CoreError {
  const directory = namesExecDir ? ofDirectory : [];
  return new CoreError(code, reworded(unspellIn(message), directory), {
    ...(hint !== null && { hint: reworded(hintOfV1(hint), directory) }),
    ...(facts && { facts }),
  });
}

export function hintOfV1(hint: string): string {
  return reworded(hint, wording);
}

function reworded(text: string, by: Wording): string {
  return by.reduce((told, [core, here]) => told.replace(core, here), text);
}
