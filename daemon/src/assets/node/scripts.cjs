/** Runs the scripts of a cell in the session's realm, and returns the value of its last expression. */
'use strict';
const { inspect, types } = require('node:util');
const vm = require('node:vm');

const ownLoader = vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER;
const prefix = '(async () => {';
const asyncBody = Symbol.for('boxkeep.cell');
const callAsyncBody = `{
  const run = globalThis[Symbol.for('boxkeep.cell')];
  delete globalThis[Symbol.for('boxkeep.cell')];
  run();
}`;
/** Waits in turns, so that on a busy machine the watching thread gets its turns too; 20 ms when no signal is left. */
const waitForSignal = `{
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (let turn = 0; turn < 20; turn += 1) Atomics.wait(never, 0, 0, 1);
}`;

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

  /** A script called `boxkeep:node` calls the async function, because stack traces omit frames of that name. */
  const runAsync = (body, name) => {
    globalThis[asyncBody] = runScript(`${prefix}${body}\n})`, name, { columnOffset: -prefix.length });
    return runScript(callAsyncBody, 'boxkeep:node', {}, true);
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
   * Takes up a signal that a script missed. When SIGINT arrives as a script with `breakOnSigint` ends, Node ends its
   * watching thread with the signal still counted in a semaphore, and interrupts the next such script instead.
   */
  const forgetSignal = () => {
    try {
      runScript(waitForSignal, 'boxkeep:node', {}, true);
    } catch (error) {
      if (error?.code !== 'ERR_SCRIPT_EXECUTION_INTERRUPTED') throw error;
    }
  };

  return { evaluate, forgetSignal };
};

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
