/** Runs cells: compiles them, shows the value of their last expression, and tells how they ended. */
'use strict';
const { inspect, types } = require('node:util');
const vm = require('node:vm');
const { process, setImmediate } = globalThis;
const { chdir } = process;

const ownLoader = vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER;
const prefix = '(async () => {';
const handover = Symbol.for('sandboxd.cell');
const callHandover = `{
  const run = globalThis[Symbol.for('sandboxd.cell')];
  delete globalThis[Symbol.for('sandboxd.cell')];
  run();
}`;

module.exports = ({ events, origin, parse, load, failures }) => {
  const { Interrupted, DirectoryError, EnvironmentVariableError, Exit, errorOutput } = failures;
  const declared = new Set();
  let count = 0;
  /** Ends the cell that runs before its code does; null between cells. */
  let endNow = null;

  const run = async ({ cell, code, cwd = null, env = null }) => {
    count += 1;
    origin.begin(cell);
    events.send({ event: 'begin', cell });
    const early = new Promise((resolve) => (endNow = resolve));
    const ending = await Promise.race([early, runCode(code, cwd, env ?? {})]);
    endNow = null;
    const exitCode = tell(cell, ending);
    origin.end();
    const status = exitCode === 0 ? 'ok' : 'error';
    events.send({ event: 'end', cell, status, execution_count: count, exit_code: exitCode });
  };

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

  const evaluate = async (code, name) => {
    const { names, functions, imports, isAsync, hasResult, body } = parse(code, name);
    declare(names, name);
    for (const { text, ...offsets } of functions) runScript(text, name, offsets);
    await importAll(imports, name);
    let value = isAsync ? runAsync(body, name) : runScript(body, name, {}, true);
    // The work that a last line starts, such as main(), is part of the cell.
    if (isAsync || (hasResult && types.isPromise(value))) value = await value;
    return hasResult && value !== undefined ? { result: bundle(value) } : {};
  };

  const declare = (names, cellName) => {
    const fresh = names.filter((name) => !declared.has(name));
    if (fresh.length > 0) runScript(`let ${fresh.join(', ')};`, cellName);
    for (const name of fresh) declared.add(name);
  };

  const runScript = (text, filename, offsets = {}, breakOnSigint = false) => {
    const importModuleDynamically = ownLoader ?? ((specifier, _, attributes) => load(specifier, { with: attributes }));
    const script = new vm.Script(text, { filename, importModuleDynamically, ...offsets });
    return script.runInThisContext({ breakOnSigint, displayErrors: false });
  };

  /** The function around it is called from here, so that errors do not show where. */
  const runAsync = (body, name) => {
    globalThis[handover] = runScript(`${prefix}${body}\n})`, name, { columnOffset: -prefix.length });
    return runScript(callHandover, 'sandboxd:node', {}, true);
  };

  const importAll = async (imports, cellName) => {
    for (const { specifier, attributes, bindings } of imports) {
      const namespace = await load(specifier, { with: attributes });
      for (const { local, imported } of bindings) {
        const assign = runScript(`(value) => { ${local} = value; }`, cellName);
        assign(imported === null ? namespace : exported(namespace, imported, specifier));
      }
    }
  };

  /** Answers the exit code. */
  const tell = (cell, ending) => {
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

  return { run, end: (error) => endNow?.({ error }), isRunning: () => endNow !== null };
};

/** A module of CommonJS has names that Node does not see beforehand. */
function exported(namespace, name, specifier) {
  if (name in namespace) return namespace[name];
  const whole = namespace.default;
  if (whole !== null && whole !== undefined && Object.hasOwn(Object(whole), name)) return whole[name];
  throw new SyntaxError(`The requested module '${specifier}' does not provide an export named '${name}'`);
}

/** A value that knows its media types says so as those of other notebooks for JavaScript do. */
function bundle(value) {
  const show = value?.[Symbol.for('Jupyter.display')];
  const data = typeof show === 'function' ? show.call(value) : null;
  return typeof data === 'object' && data !== null ? data : { 'text/plain': inspect(value, { maxStringLength: null }) };
}
