/** Says how 1.x clients call the operations that errors of core suggest, with the names of v1. */
import { named, type Naming } from '../../http/route/refusal.ts';
import { CoreError } from '../../kit/errors.ts';
import { unspellIn } from './spelled-ids.ts';

export const naming: Naming = {
  arguments: {
    cwd: 'cwd',
    commandId: 'command_id',
    cursor: null,
    endLine: 'end_line',
    ifMatch: null,
    maxFileSize: 'max_file_size',
    nextCursor: null,
    startLine: 'start_line',
    sessionId: 'session_id',
    waitFor: null,
    fullPage: 'full_page',
    maxBytes: 'max_bytes',
    rootRef: 'root_ref',
    targetId: 'target_id',
    timeout: 'timeout',
    waitUntil: 'wait_until',
    nodeId: null,
    scaleTo: null,
    timeoutMs: null,
    useClipboard: 'use_clipboard',
  },
  calls: {
    'sandbox.read': 'GET /v1/sandbox names the workspace.',
    'capabilities.read': 'GET /v1/capabilities reports what is served.',
    'commands.start': 'POST /v1/bash/exec starts a command.',
    'commands.startWithInput': 'POST /v1/bash/exec with async_mode starts a command that accepts input.',
    'commands.startWithoutShell': 'POST /v1/code/execute runs code without a shell.',
    'commands.read': 'POST /v1/bash/output reads its output.',
    'commandSessions.create': 'POST /v1/bash/sessions/create creates a session.',
    'commandSessions.close': 'POST /v1/bash/sessions/{session_id}/close closes a session.',
    'files.list': 'POST /v1/file/list shows what a directory contains.',
    'files.stat': 'POST /v1/file/stat shows the type, the owner and the mode.',
    'files.read': 'POST /v1/file/read shows the current content.',
    'files.write': 'POST /v1/file/write writes a whole file.',
    'files.download': 'GET /v1/file/download streams the bytes of a file of any size.',
    'files.readBytes': 'GET /v1/file/download streams the bytes of a file of any size.',
    'files.findDirectories': 'POST /v1/file/glob with files_only: false finds directories too.',
    'files.grepLiterally': 'POST /v1/file/grep with fixed_strings searches for the text as it is.',
    'files.grepAcrossLines': 'POST /v1/file/grep with multiline matches across lines.',
    'files.grepLargeFile': 'POST /v1/file/grep with a larger max_file_size searches larger files.',
    'files.grepBinary': 'POST /v1/bash/exec with grep -a searches binary files as text.',
    'watch.start': 'POST /v1/file/watch starts a watcher.',
    'watch.stop': 'DELETE /v1/file/watch/{watcher_id} stops a watcher, and GET /v1/file/watch lists all of them.',
    'terminals.start': 'POST /v1/shell/sessions/create starts a session.',
    'terminals.close': 'DELETE /v1/shell/sessions/{session_id} closes a session.',
    'terminals.look': 'POST /v1/shell/view shows what the shell printed.',
    'terminals.type': 'POST /v1/shell/write types into the session.',
    'terminals.interrupt':
      'POST /v1/shell/wait waits for the running command, POST /v1/shell/write types into it, and POST /v1/shell/kill ends it.',
    'code.start': 'POST /v1/code/execute with a session_id creates a session.',
    'code.close':
      'DELETE /v1/jupyter/sessions/{session_id} closes a session, and so does DELETE /v1/nodejs/sessions/{session_id}.',
    'code.interrupt': 'POST /v1/code/execute without a session_id runs code beside the session.',
    'code.runWithoutKernel': 'POST /v1/code/execute runs Python without a kernel.',
    'browser.listTabs': 'GET /v1/browser/tabs lists the tabs.',
    'browser.openTab': 'POST /v1/browser/tabs opens a tab.',
    'browser.navigate': 'POST /v1/browser/navigate loads a page.',
    'browser.snapshot': 'POST /v1/browser/snapshot shows the page as it is now.',
    'browser.evaluate': 'POST /v1/browser/evaluate runs JavaScript in the page.',
    'desktop.record': 'POST /v1/display/record starts, reads and stops a recording.',
    'browser.sendCommand': 'POST /v1/browser/cdp sends a command of the DevTools protocol.',
  },
};

/** The command and shell routes call the initial directory exec_dir. */
const namingWithExecDir: Naming = { ...naming, arguments: { ...naming.arguments, cwd: 'exec_dir' } };
const hasExecDir = /^\/v1\/(?:bash|shell)\//;

export function refusalOfV1(error: CoreError, { path }: { readonly path: string }): CoreError {
  const { code, message, ...details } = named(error, hasExecDir.test(path) ? namingWithExecDir : naming);
  return new CoreError(code, unspellIn(message), {
    hint: details.hint,
    facts: details.facts,
    isRetryable: details.isRetryable,
  });
}
