/** The intended differences between the descriptions of v1 and 1.x, grouped by reason. */

const noNul = '^[^\\\\u0000]*$';
const signals = [
  ...['ABRT', 'ALRM', 'BUS', 'CHLD', 'CONT', 'FPE', 'HUP', 'ILL', 'INT', 'IO', 'IOT', 'KILL', 'PIPE', 'POLL', 'PROF'],
  ...['PWR', 'QUIT', 'SEGV', 'STKFLT', 'STOP', 'SYS', 'TERM', 'TRAP', 'TSTP', 'TTIN', 'TTOU', 'URG', 'USR1', 'USR2'],
  ...['VTALRM', 'WINCH', 'XCPU', 'XFSZ'],
];
const actions = [
  ...['MOVE_TO', 'MOVE_REL', 'CLICK', 'MOUSE_DOWN', 'MOUSE_UP', 'RIGHT_CLICK', 'DOUBLE_CLICK', 'DRAG_TO', 'DRAG_REL'],
  ...['SCROLL', 'TYPING', 'PRESS', 'KEY_DOWN', 'KEY_UP', 'HOTKEY', 'WAIT'],
];

/** The lines of one operation. */
const of = (operation: string, ...lines: readonly string[]): string[] => lines.map((line) => `${operation} ${line}`);

/** A path has two names: neither is required on its own, and the second name is an addition. */
const eitherName = (route: string, name: string, other: string): string[] =>
  of(`POST /v1/file/${route}`, `body.${name}: required, here optional`, `body.${other}: not there, here it is`);

export const agreedDifferences: Readonly<Record<string, readonly string[]>> = {
  'an action is identified by its type, which 1.x requires too, although its document has a default': of(
    'POST /v1/browser/actions',
    'body.action_type: optional, here required',
    ...actions.map((name) => `body.action_type: default "${name}", here no default`),
  ),
  'file and path are two names of one field (interface, Facts)': [
    ...['read', 'write', 'replace', 'search'].flatMap((route) => eitherName(route, 'file', 'path')),
    ...['find', 'grep', 'glob', 'list', 'str_replace_editor', 'watch', 'watch/wait'].flatMap((route) =>
      eitherName(route, 'path', 'file'),
    ),
    ...of('GET /v1/file/download', 'parameters.query.file: not there, here it is'),
  ],
  'a failed search holds an empty list too, because client 0.0.31 reads the list unasked': [
    ...['find', 'glob'].flatMap((route) => of(`POST /v1/file/${route}`, 'answer.data.files: not there, here it is')),
    ...of('POST /v1/file/grep', 'answer.data.matches: not there, here it is'),
  ],
  'a system string ends at its first NUL': [
    ...of('POST /v1/shell/exec', ...['exec_dir', 'command'].map(withoutNul)),
    ...of('POST /v1/shell/sessions/create', withoutNul('exec_dir')),
    ...of('POST /v1/bash/exec', ...['command', 'env.*'].map(withoutNul)),
    ...of('POST /v1/bash/sessions/create', withoutNul('snapshot_path')),
  ],
  'a working directory is absolute, as the text of 1.x says': ['exec', 'sessions/create'].flatMap((route) =>
    of(`POST /v1/bash/${route}`, `body.exec_dir: no pattern, here pattern "${noNul.replace('^', '^/')}"`),
  ),
  'a time and a number of characters are not negative': [
    ...of('POST /v1/shell/exec', ...['timeout', 'no_change_timeout', 'hard_timeout'].map(notNegative)),
    ...of('POST /v1/shell/wait', ...['seconds', 'max_wait_seconds'].map(notNegative)),
    ...of('POST /v1/shell/sessions/create', notNegative('no_change_timeout')),
    ...of('POST /v1/shell/sessions/update', notNegative('no_change_timeout')),
    ...of('POST /v1/bash/exec', ...['timeout', 'hard_timeout', 'max_output_length'].map(notNegative)),
    ...of('POST /v1/bash/output', ...['offset', 'stderr_offset', 'wait_timeout'].map(notNegative)),
  ],
  'a duration above the limits of the clock and the keeper is refused': [
    ...of('POST /v1/bash/exec', 'body.timeout: no maximum, here maximum 31536000'),
    ...of('POST /v1/bash/exec', 'body.hard_timeout: no maximum, here maximum 4294967'),
    ...of('POST /v1/bash/output', 'body.wait_timeout: no maximum, here maximum 31536000'),
  ],
  'retained input is bounded': [
    ...['exec', 'output', 'write', 'kill', 'sessions/create'].flatMap((route) =>
      of(`POST /v1/bash/${route}`, 'body.session_id: no maxLength, here maxLength 256'),
    ),
    ...of('POST /v1/bash/sessions/{session_id}/close', 'parameters.path.session_id: no maxLength, here maxLength 256'),
    ...of('POST /v1/file/grep', ...['include', 'exclude'].map(atMost100)),
    ...of('POST /v1/file/grep', 'body.offset: no maximum, here maximum 100000'),
    ...of('POST /v1/file/glob', atMost100('exclude')),
  ],
  'the possible values are listed, so that another one is 422 and not a failure': [
    ...of(
      'POST /v1/bash/kill',
      `body.signal: any value, here one of ${signals.map((name) => `"SIG${name}"`).join(', ')}`,
    ),
    ...of('POST /v1/file/grep', 'body.max_file_size: no pattern, here pattern "^[1-9][0-9]{0,9}[KMGkmg]?$"'),
    ...of('POST /v1/file/replace', 'body.old_str: no minLength, here minLength 1'),
  ],
  'a search leaves nothing out that the caller did not ask to leave out': of(
    'POST /v1/file/grep',
    'body.max_file_size: default "1M", here no default',
  ),
  'the clients may send null for a variable, which unsets it': of(
    'POST /v1/bash/exec',
    'body.env.*: string, here null|string',
  ),
  'optional additions to 1.x': [
    ...of('POST /v1/bash/write', 'body.offset: not there, here it is'),
    ...['exec', 'view'].flatMap((route) =>
      of(`POST /v1/shell/${route}`, 'answer: application/json, here application/json, text/event-stream'),
    ),
    // The public guide shows this field.
    ...of('POST /v1/file/read', 'answer.data.line_count: not there, here it is'),
  ],
  'a film that ended early says why, and whether it is playable': of(
    'POST /v1/display/record',
    ...['error', 'playable'].map((name) => `answer.data.${name}: not there, here it is`),
  ),
  'the browser routes of both surfaces are the same, and grow together (interface, Browser)': [
    ...of('DELETE /v1/browser/cookies', ...['all', 'domain', 'name', 'url'].map(newParameter)),
    ...of('GET /v1/browser/cookies', newParameter('domain'), newParameter('url')),
    ...of('GET /v1/browser/info', 'answer.data.version: not there, here it is'),
    ...of('GET /v1/browser/network/requests', newParameter('clear')),
    ...of(
      'GET /v1/browser/screenshot',
      ...['full_page', 'if_changed_from', 'labels', 'scale_to', 'tab_id', 'timeout'].map(newParameter),
    ),
    ...of(
      'POST /v1/browser/cookies',
      'body.cookies: no maxItems, here maxItems 1000',
      ...['domain', 'expires', 'http_only', 'name', 'path', 'same_site', 'secure', 'url', 'value'].map(cookieField),
      ...['httpOnly', 'partitionKey', 'priority', 'sameSite', 'sourcePort', 'sourceScheme'].map(cookieField),
    ),
  ],
};

function withoutNul(name: string): string {
  return `body.${name}: no pattern, here pattern "${noNul}"`;
}

function cookieField(name: string): string {
  return `body.cookies[].${name}: not there, here it is`;
}

function newParameter(name: string): string {
  return `parameters.query.${name}: not there, here it is`;
}

function notNegative(name: string): string {
  return `body.${name}: no minimum, here minimum 0`;
}

function atMost100(name: string): string {
  return `body.${name}: no maxItems, here maxItems 100`;
}
