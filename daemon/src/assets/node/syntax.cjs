/** What to do with code that the parser does not take: TypeScript is stripped, newer syntax is left to Node. */
'use strict';
const { stripTypeScriptTypes } = require('node:module');
const vm = require('node:vm');

const prefix = '(async () => {';

module.exports = (parseCell) => {
  /** The cell as scripts. Throws a SyntaxError that quotes the line. */
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
  // Stripping keeps every line and column; enums and namespaces need more, where this Node has it.
  for (const mode of ['strip', 'transform']) {
    try {
      return parseCell(quietly(() => stripTypeScriptTypes(code, { mode })));
    } catch {
      // It is no TypeScript of this kind either: the error about the code as it is says more.
    }
  }
  return null;
}

/** Syntax that is younger than the parser. Its variables are those of this cell alone where it awaits. */
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
    return false; // Node does not take it; the caller says what is wrong.
  }
}

/** Node's words where it finds the same place wrong, because those are the ones that people search for. */
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
      // Where these may stand is true of files, and not of cells.
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

/** Node warns that stripping is new, once, which is no concern of the code. */
function quietly(run) {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return run();
  } finally {
    process.emitWarning = emitWarning;
  }
}
