/** Runs cells, one at a time, and tells how they ended. */
'use strict';
const { inspect } = require('node:util');
const { process, setImmediate } = globalThis;
const { chdir } = process;

module.exports = ({ events, origin, evaluate, failures }) => {
  const { Interrupted, DirectoryError, EnvironmentVariableError, Exit, Stalled, errorOutput } = failures;
  let count = 0;
  /** Ends the cell that runs before its code does; null between cells. */
  let endNow = null;
  let lastEnd = null;

  const run = async ({ cell, code, cwd = null, env = null, program = false }) => {
    count += 1;
    origin.begin(cell);
    events.send({ event: 'begin', cell });
    const early = new Promise((resolve) => (endNow = resolve));
    const coded = runCode(code, cwd, env ?? {});
    const ending = await Promise.race([early, program ? untilIdle(coded) : coded]);
    endNow = null;
    const exitCode = tell(cell, ending);
    origin.end();
    const status = exitCode === 0 ? 'ok' : 'error';
    lastEnd = { event: 'end', cell, status, execution_count: count, exit_code: exitCode };
    tellEnd();
  };

  /** Of the last cell; once more where the daemon has lost some of what was told. */
  const tellEnd = () => lastEnd && events.send(lastEnd);

  const runCode = async (code, cwd, env) => {
    try {
      enter(cwd, env);
      const ending = await origin.run(() => evaluate(code, `<cell ${count}>`));
      // What nobody handles, and what was put off to the next moment, is told behind this turn.
      await new Promise((resolve) => setImmediate(resolve));
      return ending;
    } catch (error) {
      return { error: error?.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED' ? new Interrupted() : error };
    }
  };

  /** Code that has not failed goes on until the process has nothing left to wait for. */
  const untilIdle = (coded) =>
    new Promise((resolve) => {
      let ending = { error: new Stalled('the code waits for something that never comes') };
      process.once('beforeExit', () => {
        const exitCode = Number(process.exitCode ?? 0) & 0xff;
        resolve(exitCode === 0 || 'error' in ending ? ending : { ...ending, error: new Exit(exitCode) });
      });
      void coded.then((end) => ('error' in end ? resolve(end) : (ending = end)));
    });

  /** Answers the exit code, also of a value that is too large for any text: that is an error of its cell alone. */
  const tell = (cell, ending) => {
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
    // Code may throw undefined.
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
      throw new DirectoryError(`working directory ${cwd}: ${error.message.replace(/, chdir .*$/s, '')}`);
    }
  };

  return { run, tellEnd, end: (error) => endNow?.({ error }), isRunning: () => endNow !== null };
};
