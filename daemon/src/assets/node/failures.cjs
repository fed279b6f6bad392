/** How cells end that do not run to their end: the errors of our own, and what is shown of any. */
'use strict';
const { inspect } = require('node:util');

class Interrupted extends Error {
  name = 'Interrupted';
  constructor() {
    super('the cell was interrupted');
  }
}

class DirectoryError extends Error {
  name = 'DirectoryError';
}

class EnvironmentVariableError extends Error {
  name = 'EnvironmentVariableError';
}

/** What `process.exit` throws, so that the code behind it does not run. */
class Exit extends Error {
  name = 'Exit';
  constructor(code) {
    super(`process.exit(${code})`);
    this.exitCode = code;
  }
}

/** Frames of ours and of what runs scripts: they are of no use to anybody. */
const isForeign = (line) => /^\s+at .*(?:sandboxd:node|\(?node:(?:vm|internal|diagnostics_channel)\b)/.test(line);

/** `outerFrame` is where the function is called that we have put around a cell. */
function errorOutput(error, outerFrame = null) {
  const isError = error instanceof Error || Object.prototype.toString.call(error) === '[object Error]';
  const ename = isError ? text(() => error.name ?? error.constructor.name) : 'Error';
  const evalue = isError ? text(() => error.message) : shown(error);
  const traceback = isError ? linesOf(error, `${ename}: ${evalue}`, outerFrame) : [`Uncaught ${evalue}`];
  return { output_type: 'error', ename, evalue, traceback };
}

function linesOf(error, headline, outerFrame) {
  if ([Interrupted, DirectoryError, EnvironmentVariableError, Exit].some((kind) => error instanceof kind)) {
    return [headline];
  }
  const lines = [];
  // An error without frames is shown in brackets.
  for (const line of shown(error)
    .replace(/^\[([\s\S]*)\]$/, '$1')
    .split('\n')) {
    if (!isForeign(line) && !(outerFrame && line.includes(outerFrame))) lines.push(line);
    // The properties of an error begin behind its last frame.
    else if (line.endsWith(' {') && lines.length > 0) lines[lines.length - 1] += ' {';
  }
  return lines;
}

function shown(value) {
  return text(() => inspect(value));
}

/** Getters and inspectors of the code's own may throw. */
function text(read) {
  try {
    return String(read());
  } catch {
    return '<it cannot be shown>'; // What it throws is about showing it, and not about the cell.
  }
}

module.exports = { Interrupted, DirectoryError, EnvironmentVariableError, Exit, errorOutput };
