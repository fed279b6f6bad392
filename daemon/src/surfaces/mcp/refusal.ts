/** Says how an agent calls the operations that errors of core suggest: with the tools of this endpoint. */
import type { Naming } from '../../http/route/refusal.ts';
import type { NextCalls } from '../../kit/errors.ts';

const bash = 'sandbox_execute_bash';
const code = 'sandbox_execute_code';
const fileOperations = 'sandbox_file_operations';

export const calls: NextCalls = {
  'sandbox.read': 'sandbox_get_context names the workspace.',
  'capabilities.read': 'sandbox_get_context reports what is served.',
  'commands.start': `${bash} runs a command.`,
  'commands.startWithInput': `${bash} runs a command.`,
  'commands.startWithoutShell': `${bash} runs a command.`,
  'commands.read': `${bash} with an empty cmd shows the output.`,
  'commandSessions.create': `${bash} with new_session opens a session.`,
  'commandSessions.close': `${bash} with cmd "exit" ends a session.`,
  'files.list': `${fileOperations} with action list shows what a directory contains.`,
  'files.stat': `${bash} with cmd "stat <path>" shows the type, the owner and the mode.`,
  'files.read': `${fileOperations} with action read shows the current content.`,
  'files.write': `${fileOperations} with action write writes a whole file.`,
  'files.download': `${bash} with head, tail or sed shows parts of a file of any size.`,
  'files.readBytes': `${fileOperations} with action read and encoding base64 shows the bytes, and ${bash} with iconv converts text.`,
  'files.findDirectories': `${bash} with find finds directories.`,
  'files.grepLiterally': `${fileOperations} with action grep and fixed_strings searches for the text as it is.`,
  'files.grepAcrossLines': `${fileOperations} with action grep and multiline matches across lines.`,
  'files.grepLargeFile': `${bash} with grep searches a large file.`,
  'files.grepBinary': `${bash} with grep -a searches binary files as text.`,
  'watch.start': `${bash} runs a command that watches.`,
  'watch.stop': 'DELETE /v2/watch/{id} stops a watcher.',
  'terminals.start': `${bash} with new_session opens a session.`,
  'terminals.close': `${bash} with cmd "exit" and the session_id ends a session.`,
  'terminals.look': ({ id }) => `${bash} with an empty cmd and session_id ${id} shows what runs.`,
  'terminals.type': `${bash} with new_session opens another session.`,
  'terminals.interrupt': ({ id }) =>
    `${bash} with an empty cmd and session_id ${id} waits for it, with interrupt too stops it; new_session runs beside it.`,
  'code.start': `${code} with another session_id opens a session.`,
  'code.close': 'An idle session is closed by itself.',
  'code.interrupt': `${code} interrupts code at its timeout.`,
  'code.runWithoutKernel': `${code} runs Python without a kernel.`,
  'browser.listTabs': 'GET /v2/browser/tabs lists the tabs.',
  'browser.openTab': 'POST /v2/browser/tabs opens a tab.',
  'browser.navigate': 'POST /v2/browser/navigate loads a page.',
  'browser.snapshot': 'POST /v2/browser/snapshot shows the page as it is now.',
  'browser.evaluate': 'POST /v2/browser/evaluate runs JavaScript in the page.',
  'browser.sendCommand': 'POST /v2/browser/cdp sends a command of the DevTools protocol.',
  'desktop.record': 'POST /v2/computer/record starts, reads and stops a recording.',
};

export const naming: Naming = {
  calls,
  arguments: {
    cwd: 'cwd',
    commandId: null,
    cursor: null,
    endLine: 'end_line',
    ifMatch: null,
    maxFileSize: null,
    nextCursor: null,
    startLine: 'start_line',
    sessionId: 'session_id',
    waitFor: null,
    fullPage: null,
    maxBytes: null,
    rootRef: null,
    targetId: null,
    timeout: null,
    waitUntil: null,
    nodeId: null,
    scaleTo: null,
    timeoutMs: null,
    useClipboard: 'use_clipboard',
  },
};
