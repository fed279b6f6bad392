/**
 * Runs the cells of one session in Node. The loader reads this script and its modules from standard input, so the
 * program is in no file that an account could change. docs/protocols/interpreter.md describes the messages.
 */
'use strict';
const { AsyncLocalStorage } = require('node:async_hooks');
const { closeSync, openSync } = require('node:fs');
const { Socket } = require('node:net');
const { process, Buffer } = globalThis;
const { parse } = JSON;

const makeEvents = part();
const makeStreams = part();
const watchChildren = part();
const acorn = part();
const makeParser = part();
const makeSyntax = part();
const failures = part();
const makeModules = part();
const makeScripts = part();
const makeCells = part();

// Node restores the previous globals when a script on its command line returns, so the setup has to run later.
setImmediate(() => {
  const { requests, answers } = moveAside();
  const events = makeEvents(answers);
  const origin = makeOrigin();
  const { print } = makeStreams({ events, origin, refuse: (error) => origin.isOfRunning() && cells.end(error) });
  watchChildren({ print });
  const load = makeModules();
  const { evaluate, forgetSignals } = makeScripts({ parse: makeSyntax(makeParser(acorn)), load });
  // oxlint-disable-next-line no-restricted-properties -- a program that calls it ends this process, not the daemon
  const exit = process.exit.bind(process);
  const cells = makeCells({ events, origin, evaluate, forgetSignals, failures, exit });
  process.argv.splice(1);
  process.execArgv.length = 0;
  Error.prepareStackTrace = failures.prepareStackTrace;
  const input = readRequests(requests, cells);
  catchEnds({ events, origin, cells, isInputOver: () => input.readableEnded });
  events.send({ event: 'ready', language: 'javascript', version: process.versions.node, pid: process.pid });
});

/**
 * Returns the two ends of the protocol, at descriptors that no child inherits. Node cannot duplicate a descriptor, so a
 * shell does that before it starts Node. Node marks the open descriptors above 2 as close-on-exec.
 */
function moveAside() {
  if (part.ends[0] !== 0) return { requests: part.ends[0], answers: part.ends[1] };
  try {
    // Without a shell, /proc can reopen both ends, if this process has permission to open them.
    const moved = { requests: openSync('/proc/self/fd/0', 'r'), answers: openSync('/proc/self/fd/1', 'w') };
    closeSync(0);
    openSync('/dev/null', 'r');
    closeSync(1);
    openSync('/proc/self/fd/2', 'w');
    return moved;
  } catch {
    return { requests: 0, answers: 1 }; // The protocol stays at 0 and 1, which children.cjs passes to no child.
  }
}

/** Assigns output to the cell whose code caused the output, even after that cell has ended. */
function makeOrigin() {
  const storage = new AsyncLocalStorage();
  let latest = null;
  return {
    begin: (cell) => (latest = { cell, isRunning: true }),
    end: () => (latest.isRunning = false),
    run: (code) => storage.run(latest, code),
    cell: () => (storage.getStore() ?? latest)?.cell ?? null,
    isOfRunning: () => latest?.isRunning === true && (storage.getStore() ?? latest) === latest,
  };
}

function catchEnds({ events, origin, cells, isInputOver }) {
  const exit = (code = process.exitCode ?? 0) => {
    cells.exitProgram(Number(code) & 0xff);
    const ending = new failures.Exit(Number(code) & 0xff);
    if (origin.isOfRunning()) cells.end(ending);
    throw ending;
  };
  // `process.exit` ends the cell, and the session continues.
  Object.assign(process, { exit });
  const onError = (error) => {
    if (error instanceof failures.Exit) return;
    if (origin.isOfRunning()) cells.end(error);
    else {
      events.send({ event: 'output', cell: origin.cell(), output: failures.errorOutput(error) });
      cells.fail();
    }
  };
  const unlessHandled = (name) =>
    process.on(name, (error) => {
      // If user code has a listener of its own, that listener handles the error and the cell continues.
      if (process.listenerCount(name) === 1) onError(error);
    });
  unlessHandled('uncaughtException');
  unlessHandled('unhandledRejection');
  process.on('SIGINT', () => cells.interrupt(isInputOver()));
}

/** Returns null for an invalid line: a daemon that dies can leave a partial line behind. */
function readRequest(line) {
  try {
    return parse(line);
  } catch {
    return null;
  }
}

/** Runs the requested cells in order. After the end of the input, the process exits when its event loop is empty. */
function readRequests(descriptor, cells) {
  let rest = [];
  let last = Promise.resolve();
  const onLine = (line) => {
    const request = readRequest(line);
    if (request?.op === 'again') cells.reportEnd();
    else if (request?.op === 'leave') cells.leave();
    else if (request?.op === 'execute') last = last.then(() => cells.run(request));
  };
  // A stream of `fs` would block a thread of the small pool in `read`, and Node cannot exit before that call returns.
  const input = new Socket({ fd: descriptor, readable: true, writable: false });
  // From here on the process ends as a program does. The daemon that stops has closed the input before SIGTERM comes.
  input.on('end', () => process.listenerCount('SIGTERM') > 0 || process.on('SIGTERM', () => undefined));
  input.on('data', (bytes) => {
    for (let start = 0; ;) {
      const end = bytes.indexOf(10, start);
      if (end < 0) {
        rest.push(bytes.subarray(start));
        return;
      }
      const line = Buffer.concat([...rest, bytes.subarray(start, end)]).toString();
      rest = [];
      start = end + 1;
      onLine(line);
    }
  });
  return input;
}
