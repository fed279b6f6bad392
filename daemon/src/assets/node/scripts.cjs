/** Runs the scripts of a cell in the session's realm, and returns the value of its last expression. */
'use strict';
const { readdirSync, readFileSync } = require('node:fs');
const { inspect, types } = require('node:util');
const vm = require('node:vm');
const { Atomics, Int32Array, SharedArrayBuffer } = globalThis;

const ownLoader = vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER;
const prefix = '(async () => {';
const own = Symbol.for('boxkeep.cell');
const callOwn = `{
  const run = globalThis[Symbol.for('boxkeep.cell')];
  delete globalThis[Symbol.for('boxkeep.cell')];
  run();
}`;
const threads = '/proc/self/task';
/** Turns of a millisecond. A thread of the user's own may never sleep. */
const maxTurns = 1000;
/** Bounds the wait for a program that sends signals without end. */
const maxSignals = 100;

module.exports = ({ parse, load }) => {
  const declared = new Set();

  const evaluate = async (code, name) => {
    const { names, functions, imports, isAsync, hasResult, body } = parse(code, name);
    declare(names, name);
    for (const { text, ...offsets } of functions) runScript(text, name, offsets);
    await importAll(imports, name);
    let value = isAsync ? runAsync(body, name) : runScript(body, name, {}, true);
    // A promise from the last line, such as `main()`, is part of the cell.
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

  const runAsync = (body, name) => runOwn(runScript(`${prefix}${body}\n})`, name, { columnOffset: -prefix.length }));

  /** A script called `boxkeep:node` calls the function, because stack traces omit frames of that name. */
  const runOwn = (run) => {
    globalThis[own] = run;
    return runScript(callOwn, 'boxkeep:node', {}, true);
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

  /**
   * Takes up the signals that scripts have missed. When SIGINT arrives as a script with `breakOnSigint` ends, Node ends
   * its watching thread with the signal still counted in a semaphore, and interrupts the next such script instead.
   */
  const forgetSignals = () => {
    for (let count = 0; count < maxSignals && hasMissedSignal(); count += 1);
  };

  const hasMissedSignal = () => {
    const earlier = new Set(readdirSync(threads));
    try {
      runOwn(() => untilAsleep(earlier));
      return false;
    } catch (error) {
      if (error?.code !== 'ERR_SCRIPT_EXECUTION_INTERRUPTED') throw error;
      return true;
    }
  };

  return { evaluate, forgetSignals };
};

/** Blocks until all new threads sleep. Node's watching thread sleeps once no signal is counted any more. */
function untilAsleep(earlier) {
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (let turn = 0; turn < maxTurns; turn += 1) {
    Atomics.wait(never, 0, 0, 1);
    if (readdirSync(threads).every((id) => earlier.has(id) || isAsleep(id))) return;
  }
}

function isAsleep(id) {
  try {
    const status = readFileSync(`${threads}/${id}/stat`, 'utf8');
    return status[status.lastIndexOf(')') + 2] === 'S';
  } catch {
    return true; // The thread has ended.
  }
}

/** Node does not detect every export of a CommonJS module, so the fallback is `module.exports`. */
function exported(namespace, name, specifier) {
  if (name in namespace) return namespace[name];
  const whole = namespace.default;
  if (whole !== null && whole !== undefined && Object.hasOwn(Object(whole), name)) return whole[name];
  throw new SyntaxError(`The requested module '${specifier}' does not provide an export named '${name}'`);
}

/** A value can define its media types with `Jupyter.display`, as in other JavaScript notebooks. */
function bundle(value) {
  const show = value?.[Symbol.for('Jupyter.display')];
  const data = typeof show === 'function' ? show.call(value) : null;
  return typeof data === 'object' && data !== null ? data : { 'text/plain': inspect(value, { maxStringLength: null }) };
}
