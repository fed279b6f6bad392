/** Runs the cells of a session, one at a time, and reports their results to the daemon. */
'use strict';
const { inspect } = require('node:util');
const { process, setImmediate } = globalThis;
const { chdir } = process;
/** The exit code after SIGINT, as a shell reports it. */
const interruptedCode = 130;

module.exports = ({ events, origin, evaluate, forgetSignals, failures, exit }) => {
  const { Interrupted, DirectoryError, EnvironmentVariableError, Exit, Stalled, errorOutput } = failures;
  let count = 0;
  /** Ends the running cell before its code finishes; null between cells. */
  let endNow = null;
  let lastEnd = null;
  /** The cell that runs as a program: the process ends with it. */
  let programCell = null;
  /** The session ends, and so do its cells. */
  let isLeaving = false;

  const run = async ({ cell, code, cwd = null, env, lent, program = false, interrupted = false }) => {
    if (interrupted) await forgetInterrupt();
    count += 1;
    programCell = program ? cell : null;
    origin.begin(cell);
    events.send({ event: 'begin', cell });
    const early = new Promise((resolve) => (endNow = resolve));
    const before = {};
    const place = { cwd, env: env ?? {}, cellEnv: lent ?? {}, before };
    const coded = isLeaving ? { error: new Interrupted() } : runCode(code, place);
    const ending = await Promise.race([early, program ? untilIdle(cell, coded) : coded]);
    putBack(before);
    finish(cell, ending);
    // A program ends at its first error, whatever else it still waits for.
    if (program && 'error' in ending) exit(lastEnd.exit_code);
  };

  const finish = (cell, ending) => {
    endNow = null;
    const exitCode = report(cell, ending);
    origin.end();
    const status = exitCode === 0 ? 'ok' : 'error';
    lastEnd = { event: 'end', cell, status, execution_count: count, exit_code: exitCode };
    if (ending.error instanceof DirectoryError) lastEnd.cwd_error = ending.error.reason;
    if (programCell !== null && willCallListeners(ending)) lastEnd.is_pending = true;
    reportEnd();
  };

  /** A signal for an earlier cell must not end this one. libuv reports signals after the input of the same turn. */
  const forgetInterrupt = async () => {
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    forgetSignals();
  };

  /** `process.exit` in a program ends the process at once. In a session it only ends the cell. */
  const exitProgram = (exitCode) => {
    if (programCell === null) return;
    if (endNow !== null) finish(programCell, { error: new Exit(exitCode) });
    exit(exitCode);
  };

  /** Sends the `end` event of the last cell. The daemon requests the event again after losing output. */
  const reportEnd = () => lastEnd && events.send(lastEnd);

  const runCode = async (code, place) => {
    try {
      enter(place);
      const ending = await origin.run(() => evaluate(code, `<cell ${count}>`));
      // Pending callbacks and unhandled rejections of this turn are processed before the cell ends.
      await new Promise((resolve) => setImmediate(resolve));
      return ending;
    } catch (error) {
      return { error: error?.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED' ? new Interrupted() : error };
    }
  };

  /** Resolves at the first error, or when the event loop is empty. */
  const untilIdle = (cell, coded) =>
    new Promise((resolve) => {
      let ending = { error: new Stalled('the code waits for something that never comes') };
      process.once('beforeExit', () => {
        const exitCode = Number(process.exitCode ?? 0) & 0xff;
        resolve(exitCode === 0 || 'error' in ending ? ending : { ...ending, error: new Exit(exitCode) });
      });
      void coded.then((end) => {
        if ('error' in end) return resolve(end);
        ending = end;
        return events.send({ event: 'ending', cell });
      });
    });

  /** Returns the exit code. A value that is too large to serialize fails its own cell, not the interpreter. */
  const report = (cell, ending) => {
    try {
      return show(cell, ending);
    } catch (error) {
      return show(cell, { error });
    }
  };

  const show = (cell, ending) => {
    const { result, error } = ending;
    if (result) {
      const output = { output_type: 'execute_result', execution_count: count, data: result, metadata: {} };
      events.send({ event: 'output', cell, output });
    }
    const isExit = error instanceof Exit;
    // Code may throw undefined, so the check is for the key, not for the value.
    if (!('error' in ending) || (isExit && error.exitCode === 0)) return 0;
    events.send({ event: 'output', cell, output: errorOutput(error) });
    return isExit ? error.exitCode : 1;
  };

  const enter = ({ cwd, env, cellEnv, before }) => {
    setVariables(env);
    try {
      if (cwd !== null) chdir(cwd);
    } catch (error) {
      throw new DirectoryError(cwd, error.message.replace(/, chdir .*$/s, ''));
    }
    setVariables(cellEnv, before);
  };

  const putBack = (before) => {
    try {
      setVariables(before);
    } catch {
      // The code has replaced `process.env`. Later cells must run nevertheless.
    }
  };

  /** Notes in `before` what each variable was. */
  const setVariables = (env, before = {}) => {
    for (const [name, value] of Object.entries(env)) {
      if (/[=\0]/.test(name) || name === '')
        throw new EnvironmentVariableError(`no variable can be called ${inspect(name)}`);
      before[name] = process.env[name] ?? null;
      if (value === null) delete process.env[name];
      else process.env[name] = value;
    }
  };

  /** Ctrl-C ends the running cell, or a process that only waits for the end of its timers and sockets. */
  const interrupt = (isInputOver) => {
    if (endNow !== null) endNow({ error: new Interrupted() });
    else if (isInputOver) exit(interruptedCode);
  };

  /** Ends the running cell, and every later one before its code runs. */
  const leave = () => {
    isLeaving = true;
    endNow?.({ error: new Interrupted() });
  };

  /** An error after the end of a program, in an exit function. */
  const fail = () => {
    if (programCell !== null && endNow === null) process.exitCode = 1;
  };

  return { run, reportEnd, exitProgram, interrupt, leave, fail, end: (error) => endNow?.({ error }) };
};

/** Whether the process calls functions of the code before it ends. After an error, the event loop does not become empty. */
const willCallListeners = (ending) =>
  process.listenerCount('exit') > 0 || (!('error' in ending) && process.listenerCount('beforeExit') > 0);
