/**
 * Captures the output of child processes that inherit stdout or stderr. Node cannot replace its own descriptors with
 * pipes. So these children get pipes, and their output is printed for the cell that started them.
 */
'use strict';
const childProcess = require('node:child_process');

module.exports = ({ print }) => {
  const { spawn } = childProcess.ChildProcess.prototype;
  childProcess.ChildProcess.prototype.spawn = function (options) {
    const { stdio, inherited } = withPipes(options.stdio);
    if (inherited.length === 0) return spawn.call(this, stdio.length > 0 ? { ...options, stdio } : options);
    const result = spawn.call(this, { ...options, stdio });
    for (const [index, descriptor] of inherited) {
      const stream = this.stdio[index];
      if (!stream) continue; // The spawn failed, and Node reports the error.
      stream.on('data', (bytes) => print(descriptor, bytes));
      stream.on('error', () => stream.destroy()); // No output follows a read error.
      // The caller asked for inherited output, for which Node exposes null instead of a stream.
      this.stdio[index] = null;
      if (index === 1) this.stdout = null;
      if (index === 2) this.stderr = null;
    }
    return result;
  };

  const { spawnSync } = childProcess;
  childProcess.spawnSync = (file, ...given) => {
    const at = given.findLastIndex(isOptions);
    const { stdio, inherited } = withPipes(given[at]?.stdio);
    if (inherited.length === 0) return spawnSync(file, ...given);
    const options = { maxBuffer: Infinity, ...given[at], stdio };
    const result = spawnSync(file, ...given.slice(0, at), options);
    for (const [index, descriptor] of inherited) {
      const output = result.output?.[index];
      if (output?.length > 0) print(descriptor, output, options.encoding);
      if (result.output) result.output[index] = null;
      if (index === 1) result.stdout = null;
      if (index === 2) result.stderr = null;
    }
    return result;
  };

  // execSync and execFileSync do not return the child's stderr, so both are reimplemented with spawnSync.
  for (const [name, isShell] of [
    ['execSync', true],
    ['execFileSync', false],
  ]) {
    const original = childProcess[name];
    childProcess[name] = (file, ...given) => {
      const options = given.findLast(isOptions) ?? {};
      if (withPipes(options.stdio).inherited.length === 0) return original(file, ...given);
      const args = given.find(Array.isArray) ?? [];
      const shell = options.shell ?? isShell;
      return outputOf(childProcess.spawnSync(file, args, { ...options, shell }), [file, ...args].join(' '));
    };
  }
};

/** Returns or throws the same as `execSync`, with the same error message. */
function outputOf(result, command) {
  if (result.error) throw Object.assign(result.error, result);
  if (result.status === 0) return result.stdout;
  const words = result.stderr?.length > 0 ? `\n${result.stderr}` : '';
  throw Object.assign(new Error(`Command failed: ${command}${words}`), result);
}

const isOptions = (argument) => typeof argument === 'object' && argument !== null && !Array.isArray(argument);

/** Replaces inherited stdout and stderr with pipes. `inherited` has an [index, descriptor] pair for each pipe. */
function withPipes(given) {
  const stdio = typeof given === 'string' ? [given, given, given] : Array.isArray(given) ? [...given] : [];
  const inherited = [];
  for (const [index, entry] of stdio.entries()) {
    // Cells have no standard input, so a child cannot inherit one.
    if (index === 0 && (entry === 'inherit' || entry === 0 || entry?.fd === 0)) stdio[0] = 'ignore';
    const descriptor = ourDescriptor(entry, index);
    if (descriptor === null) continue;
    inherited.push([index, descriptor]);
    stdio[index] = 'pipe';
  }
  return { stdio, inherited };
}

function ourDescriptor(entry, index) {
  const descriptor = entry === 'inherit' ? index : typeof entry === 'number' ? entry : entry?.fd;
  return descriptor === 1 || descriptor === 2 ? descriptor : null;
}
