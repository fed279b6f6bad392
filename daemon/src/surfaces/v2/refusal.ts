/** Says how v2 clients call the operations that errors of core suggest. */
import { named, type Naming } from '../../http/route/refusal.ts';
import type { CoreError } from '../../kit/errors.ts';

export const naming: Naming = {
  argument: { cwd: 'cwd' },
  calls: {
    'sandbox.read': 'GET /v2/sandbox names the workspace.',
    'capabilities.read': 'GET /v2/sandbox reports what is served.',
    'commands.start': 'POST /v2/commands starts a command.',
    'commands.startWithInput': 'POST /v2/commands with stdin "pipe" starts a command that accepts input.',
    'commands.startWithoutShell': 'POST /v2/commands with shell "none" runs a program directly.',
    'commands.read': ({ id }) => `GET /v2/commands/${id} reads its output.`,
    'commandSessions.create': 'POST /v2/commands/sessions creates a session.',
    'commandSessions.close': 'DELETE /v2/commands/sessions/{session_id} deletes a session.',
    'files.list': 'GET /v2/fs/list shows what a directory contains.',
    'files.stat': 'GET /v2/fs/stat shows the type, the owner and the mode.',
    'files.read': 'GET /v2/fs/read shows the current content.',
    'files.download': 'GET /v2/fs/download streams the bytes of a file of any size.',
    'files.readBytes': 'GET /v2/fs/download streams the bytes of a file of any size.',
    'files.findDirectories': 'GET /v2/fs/search with type=directory finds directories.',
    'files.grepLiterally': 'POST /v2/fs/grep with fixed_strings searches for the text as it is.',
    'files.grepAcrossLines': 'POST /v2/fs/grep with multiline matches across lines.',
    'files.grepLargeFile': 'POST /v2/fs/grep with a larger max_file_size searches larger files.',
    'files.grepBinary': 'POST /v2/commands with grep -a searches binary files as text.',
    'watch.start': 'POST /v2/watch starts a watcher.',
    'watch.stop': 'DELETE /v2/watch/{id} stops a watcher, and GET /v2/watch lists all of them.',
    'terminals.start': 'POST /v2/pty/sessions starts a session.',
    'terminals.close': 'DELETE /v2/pty/sessions/{id} closes a session.',
    'terminals.look': ({ id }) => `GET /v2/pty/sessions/${id}/recording shows what the shell printed.`,
    'terminals.type': ({ id }) => `POST /v2/pty/sessions/${id}/input types into the session.`,
    'terminals.interrupt': ({ id }) => `POST /v2/pty/sessions/${id}/signal interrupts the program in the foreground.`,
    'code.start': 'POST /v2/code/sessions creates a session, and so does POST /v2/code/execute with a session_id.',
    'code.close': 'DELETE /v2/code/sessions/{id} closes a session.',
    'code.interrupt': ({ id }) => `POST /v2/code/sessions/${id}/interrupt interrupts the running code.`,
    'code.runWithoutKernel': 'POST /v2/code/execute runs Python without a kernel.',
    'browser.listTabs': 'GET /v2/browser/tabs lists the tabs.',
    'browser.openTab': 'POST /v2/browser/tabs opens a tab.',
    'browser.navigate': 'POST /v2/browser/navigate loads a page.',
    'browser.snapshot': 'POST /v2/browser/snapshot shows the page as it is now.',
    'browser.evaluate': 'POST /v2/browser/evaluate runs JavaScript in the page.',
    'desktop.record': 'POST /v2/computer/record starts, reads and stops a recording.',
    'browser.sendCommand': 'POST /v2/browser/cdp sends a command of the DevTools protocol.',
  },
};

export function refusalOfV2(error: CoreError): CoreError {
  return named(error, naming);
}
