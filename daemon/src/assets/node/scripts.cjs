/** Runs what has been made of a cell, in the realm that the session has, and answers the value of its last expression. */
'use strict';
const { inspect, types } = require('node:util');
const vm = require('node:vm');

const ownLoader = vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER;
const prefix = '(async () => {';
const handover = Symbol.for('sandboxd.cell');
const callHandover = `{
  const run = globalThis[Symbol.for('sandboxd.cell')];
  delete globalThis[Symbol.for('sandboxd.cell')];
  run();
}`;

module.exports = ({ parse, load }) => {
  const declared = new Set();

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

  return evaluate;
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
