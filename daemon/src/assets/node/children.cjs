/**
 * Captures the output of child processes that inherit stdout or stderr. Node cannot replace its own descriptors with
 * pipes. So these children get pipes or files, and their output is printed for the cell that started them.
 */
'use strict';
const childProcess = require('node:child_process');
const { randomUUID } = require('node:crypto');
const { ftruncateSync, openSync, readSync, unlinkSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { Buffer } = globalThis;

module.exports = ({ print }) => {
  /** Prints the bytes from a position of a file, or what a pipe holds now. */
  const printRest = (from, descriptor, position = null) => {
    const buffer = Buffer.allocUnsafe(64 * 1024);
    try {
      for (let count; (count = readSync(from, buffer, 0, buffer.length, position)) > 0;) {
        if (position !== null) position += count;
        print(descriptor, buffer.subarray(0, count));
      }
    } catch {
      // EAGAIN: the pipe is empty, and a process that the child left behind holds its other end.
    }
  };

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
      // A process that the child left behind may hold the pipe. As with a real stdout, only the child counts.
      stream.unref();
      this.once('exit', () => {
        if (stream.destroyed) return;
        printRest(stream._handle.fd, descriptor);
        stream.emit('close'); // The child counts its open pipes before it emits `close`.
        stream.removeAllListeners('close');
      });
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
    // spawnSync reads a pipe until its last writer has ended, and that may be a process that the child left behind.
    for (const [index, descriptor] of inherited) stdio[index] = emptyFile(descriptor) ?? 'pipe';
    const options = { maxBuffer: Infinity, ...given[at], stdio };
    const result = spawnSync(file, ...given.slice(0, at), options);
    for (const [index, descriptor] of inherited) {
      const output = result.output?.[index];
      if (output?.length > 0) print(descriptor, output, options.encoding);
      if (stdio[index] !== 'pipe') {
        printRest(stdio[index], descriptor, 0);
        emptyFile(descriptor);
      }
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

const files = {};

/** Returns an empty file without a name for the output to a descriptor; null where no file can be created. */
function emptyFile(descriptor) {
  try {
    files[descriptor] ??= openUnlinked();
    ftruncateSync(files[descriptor]);
    return files[descriptor];
  } catch {
    return null; // A read-only file system, or a TMPDIR that does not exist.
  }
}

/** Appends, because a process that an earlier child left behind may still write to the file. */
function openUnlinked() {
  const path = join(tmpdir(), `boxkeep-${randomUUID()}`);
  const descriptor = openSync(path, 'ax+', 0o600);
  unlinkSync(path);
  return descriptor;
}

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
