/** Parses a cell, with fallbacks for TypeScript and for syntax that is newer than the parser. */
'use strict';
const { stripTypeScriptTypes } = require('node:module');
const vm = require('node:vm');

const prefix = '(async () => {';

module.exports = (parseCell) => {
  /** Returns the scripts of the cell. Throws a SyntaxError that quotes the invalid line. */
  return (code, name) => {
    try {
      return parseCell(code);
    } catch (error) {
      return parseTypeScript(code, parseCell) ?? leaveToNode(code) ?? fail(error, code, name);
    }
  };
};

function parseTypeScript(code, parseCell) {
  if (!stripTypeScriptTypes) return null;
  // Mode `strip` keeps lines and columns. Enums and namespaces need `transform`, which not every Node has.
  for (const mode of ['strip', 'transform']) {
    try {
      return parseCell(quietly(() => stripTypeScriptTypes(code, { mode })));
    } catch {
      // The parser's error about the original code is more useful than this one.
    }
  }
  return null;
}

/** Passes syntax that is newer than the parser to Node unchanged. If such a cell awaits, its variables are local. */
function leaveToNode(code) {
  const cell = { names: [], functions: [], imports: [], body: code, hasResult: true };
  if (compiles(code)) return { ...cell, isAsync: false };
  return compiles(`${prefix}${code}\n})()`) ? { ...cell, isAsync: true, hasResult: false } : null;
}

function compiles(text) {
  try {
    void new vm.Script(text);
    return true;
  } catch {
    return false; // The caller reports the error.
  }
}

/** Prefers the message of Node over the parser's, because users search the web for the message of Node. */
function fail(error, code, name) {
  const { line, column } = error.loc ?? { line: 1, column: 0 };
  const message = error.message.replace(/ \(\d+:\d+\)$/, '');
  const failure = new SyntaxError(nodesMessage(code) ?? message);
  const source = code.split(/\r?\n/)[line - 1] ?? '';
  const quote = source.length > 500 ? [] : [source, `${' '.repeat(column)}^`, ''];
  failure.stack = [`${name}:${line}`, ...quote, `SyntaxError: ${failure.message}`, ...hint(source)].join('\n');
  throw failure;
}

function nodesMessage(code) {
  for (const text of [code, `${prefix}${code}\n})()`]) {
    try {
      void new vm.Script(text);
    } catch (error) {
      // Node's messages about these keywords describe the rules of files, which differ from the rules of cells.
      if (!/await|import|export/.test(error.message)) return error.message;
    }
  }
  return null;
}

function hint(source) {
  const looksTyped = /^\s*(?:interface|type|enum|namespace|declare|abstract)\s|\w\s*:\s*\w|\bas\s+\w/.test(source);
  if (stripTypeScriptTypes || !looksTyped) return [];
  return [`If this is TypeScript: node ${process.version} cannot run it. It takes 22.13 or newer.`];
}

/** Hides Node's warning that type stripping is experimental, which does not concern the user's code. */
function quietly(run) {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return run();
  } finally {
    process.emitWarning = emitWarning;
  }
}
