/** Defines the interpreter's own errors, and formats every error that ends a cell. */
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
  constructor(cwd, reason) {
    super(`working directory ${cwd}: ${reason}`);
    this.reason = reason;
  }
}

class EnvironmentVariableError extends Error {
  name = 'EnvironmentVariableError';
}

/** Thrown by `process.exit`, so that the code after the call does not run. */
class Exit extends Error {
  name = 'Exit';
  constructor(code) {
    super(`process.exit(${code})`);
    this.exitCode = code;
  }
}

/** Ends a program whose code still awaits something when the event loop is empty. */
class Stalled extends Error {
  name = 'Stalled';
}

/** Stack frames of the interpreter and of Node's internals. They do not help a user to find an error in a cell. */
const isForeign = (site) =>
  /^(?:boxkeep:node|node:(?:vm|internal|diagnostics_channel)\b)/.test(site.getFileName() ?? '');

/** Formats a stack trace as V8 does, without the foreign frames. */
function prepareStackTrace(error, sites) {
  const kept = sites.filter((site) => !isForeign(site));
  return [text(() => Error.prototype.toString.call(error)), ...kept].join('\n    at ');
}

const ours = [Interrupted, DirectoryError, EnvironmentVariableError, Exit, Stalled];

function errorOutput(error) {
  const isError = error instanceof Error || Object.prototype.toString.call(error) === '[object Error]';
  const ename = isError ? text(() => error.name ?? error.constructor.name) : 'Error';
  const evalue = isError ? text(() => error.message) : shown(error);
  const traceback = isError ? linesOf(error, `${ename}: ${evalue}`) : [`Uncaught ${evalue}`];
  return { output_type: 'error', ename, evalue, traceback };
}

function linesOf(error, headline) {
  if (ours.some((kind) => error instanceof kind)) return [headline];
  // `inspect` puts an error without stack frames in brackets.
  return shown(error)
    .replace(/^\[([\s\S]*)\]$/, '$1')
    .split('\n');
}

function shown(value) {
  return text(() => inspect(value));
}

/** Getters and inspect methods of user code may throw. */
function text(read) {
  try {
    return String(read());
  } catch {
    return '<it cannot be shown>'; // A failed display must not replace the cell's own error.
  }
}

module.exports = {
  ...{ Interrupted, DirectoryError, EnvironmentVariableError, Exit, Stalled },
  ...{ errorOutput, prepareStackTrace },
};
