/** Runs the cells of a session, one at a time, and reports their results to the daemon. */
'use strict';
const { inspect } = require('node:util');
const { process, setImmediate } = globalThis;
const { chdir } = process;

module.exports = ({ events, origin, evaluate, forgetSignals, failures }) => {
  const { Interrupted, DirectoryError, EnvironmentVariableError, Exit, Stalled, errorOutput } = failures;
  let count = 0;
  /** Ends the running cell before its code finishes; null between cells. */
  let endNow = null;
  let lastEnd = null;

  const run = async ({ cell, code, cwd = null, env = null, program = false, interrupted = false }) => {
    if (interrupted) await forgetInterrupt();
    count += 1;
    origin.begin(cell);
    events.send({ event: 'begin', cell });
    const early = new Promise((resolve) => (endNow = resolve));
    const coded = runCode(code, cwd, env ?? {});
    const ending = await Promise.race([early, program ? untilIdle(coded) : coded]);
    endNow = null;
    const exitCode = report(cell, ending);
    origin.end();
    const status = exitCode === 0 ? 'ok' : 'error';
    lastEnd = { event: 'end', cell, status, execution_count: count, exit_code: exitCode };
    if (ending.error instanceof DirectoryError) lastEnd.cwd_error = ending.error.reason;
    reportEnd();
  };

  /** A signal for an earlier cell must not end this one. libuv reports signals after the input of the same turn. */
  const forgetInterrupt = async () => {
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    forgetSignals();
  };

  /** Sends the `end` event of the last cell. The daemon requests the event again after losing output. */
  const reportEnd = () => lastEnd && events.send(lastEnd);

  const runCode = async (code, cwd, env) => {
    try {
      enter(cwd, env);
      const ending = await origin.run(() => evaluate(code, `<cell ${count}>`));
      // Pending callbacks and unhandled rejections of this turn are processed before the cell ends.
      await new Promise((resolve) => setImmediate(resolve));
      return ending;
    } catch (error) {
      return { error: error?.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED' ? new Interrupted() : error };
    }
  };

  /** Resolves at the first error, or when the event loop is empty. */
  const untilIdle = (coded) =>
    new Promise((resolve) => {
      let ending = { error: new Stalled('the code waits for something that never comes') };
      process.once('beforeExit', () => {
        const exitCode = Number(process.exitCode ?? 0) & 0xff;
        resolve(exitCode === 0 || 'error' in ending ? ending : { ...ending, error: new Exit(exitCode) });
      });
      void coded.then((end) => ('error' in end ? resolve(end) : (ending = end)));
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

  const enter = (cwd, env) => {
    for (const [name, value] of Object.entries(env)) {
      if (/[=\0]/.test(name) || name === '')
        throw new EnvironmentVariableError(`no variable can be called ${inspect(name)}`);
      if (value === null) delete process.env[name];
      else process.env[name] = value;
    }
    if (cwd === null) return;
    try {
      chdir(cwd);
    } catch (error) {
      throw new DirectoryError(cwd, error.message.replace(/, chdir .*$/s, ''));
    }
  };

  return { run, reportEnd, end: (error) => endNow?.({ error }) };
};
