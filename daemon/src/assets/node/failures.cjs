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

/** A program whose code has not come to its end, with nothing left that could lead it there. */
class Stalled extends Error {
  name = 'Stalled';
}

/** Frames of ours and of what runs scripts: they are of no use to anybody, whoever prints an error. */
const isForeign = (site) =>
  /^(?:sandboxd:node|node:(?:vm|internal|diagnostics_channel)\b)/.test(site.getFileName() ?? '');

/** As it is without this, but for those. */
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
  // An error without frames is shown in brackets.
  return shown(error)
    .replace(/^\[([\s\S]*)\]$/, '$1')
    .split('\n');
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

module.exports = {
  ...{ Interrupted, DirectoryError, EnvironmentVariableError, Exit, Stalled },
  ...{ errorOutput, prepareStackTrace },
};
