/**
 * A Node that runs the cells of one session. It is read from standard input, with the parts that it stands on, so that
 * no file has to be there that an account could change. What it says and hears is in docs/protocols/interpreter.md.
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

// Node puts back the globals of a script on its command line when that has run to its end.
setImmediate(() => {
  const { requests, answers } = moveAside();
  const events = makeEvents(answers);
  const origin = makeOrigin();
  const { print } = makeStreams({ events, origin, refuse: (error) => origin.isOfRunning() && cells.end(error) });
  watchChildren({ print });
  const load = makeModules();
  const evaluate = makeScripts({ parse: makeSyntax(makeParser(acorn)), load });
  const cells = makeCells({ events, origin, evaluate, failures });
  process.argv.splice(1);
  process.execArgv.length = 0;
  Error.prepareStackTrace = failures.prepareStackTrace;
  catchEnds({ events, origin, cells });
  readRequests(requests, cells);
  events.send({ event: 'ready', language: 'javascript', version: process.versions.node, pid: process.pid });
});

/**
 * The two ends of the protocol, at descriptors that nothing inherits. Node cannot duplicate one, so a shell has done it
 * on the way here, and Node keeps to itself what it has found open beyond the first three.
 */
function moveAside() {
  if (part.ends[0] !== 0) return { requests: part.ends[0], answers: part.ends[1] };
  try {
    // Without a shell they can be opened anew by the names that the system has for them, where these are our own.
    const moved = { requests: openSync('/proc/self/fd/0', 'r'), answers: openSync('/proc/self/fd/1', 'w') };
    closeSync(0);
    openSync('/dev/null', 'r');
    closeSync(1);
    openSync('/proc/self/fd/2', 'w');
    return moved;
  } catch {
    return { requests: 0, answers: 1 }; // They stay, and nothing of ours hands them on.
  }
}

/** Which cell a print belongs to: the one whose code led to it, however late. */
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

function catchEnds({ events, origin, cells }) {
  const exit = (code = process.exitCode ?? 0) => {
    const ending = new failures.Exit(Number(code) & 0xff);
    if (origin.isOfRunning()) cells.end(ending);
    throw ending;
  };
  // For code, the end of its process is the end of its cell.
  Object.assign(process, { exit });
  const onError = (error) => {
    if (error instanceof failures.Exit) return;
    if (origin.isOfRunning()) cells.end(error);
    else events.send({ event: 'output', cell: origin.cell(), output: failures.errorOutput(error) });
  };
  const unlessHandled = (name) =>
    process.on(name, (error) => {
      // Code that listens itself means to go on.
      if (process.listenerCount(name) === 1) onError(error);
    });
  unlessHandled('uncaughtException');
  unlessHandled('unhandledRejection');
  process.on('SIGINT', () => cells.end(new failures.Interrupted()));
}

/** One cell after another. At the end of the requests the process ends as any program does: when nothing is left. */
/** Null for what is none: a daemon that died has left half a line behind. */
function readRequest(line) {
  try {
    return parse(line);
  } catch {
    return null;
  }
}

function readRequests(descriptor, cells) {
  let rest = [];
  let last = Promise.resolve();
  const onLine = (line) => {
    const request = readRequest(line);
    if (request?.op === 'again') cells.tellEnd();
    else if (request?.op === 'execute') last = last.then(() => cells.run(request));
  };
  // A stream of `fs` would hold one of few threads in a read, and a process cannot exit before that returns.
  const input = new Socket({ fd: descriptor, readable: true, writable: false });
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
}
