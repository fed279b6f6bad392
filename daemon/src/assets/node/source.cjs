/**
 * Rewrites a cell as scripts in which top-level declarations are variables of the session. Each variable is declared
 * once, and declarations become assignments, so a later cell can declare the same name again. All code keeps its line,
 * and nearly all code keeps its column, so that errors point to the right place.
 */
'use strict';

module.exports = (acorn) => {
  /** Throws acorn's SyntaxError, with `pos` and `loc`. */
  return function parseCell(code) {
    const tree = acorn.parse(code, {
      ecmaVersion: 'latest',
      sourceType: 'script',
      allowAwaitOutsideFunction: true,
      allowImportExportEverywhere: true,
      allowHashBang: true,
      locations: true,
    });
    const cell = new Cell(code);
    for (const statement of tree.body) cell.addStatement(statement);
    return cell.finish(tree.body.at(-1));
  };
};

class Cell {
  names = new Set();
  imports = [];
  functions = [];
  isAsync = false;
  #edits = [];

  constructor(code) {
    this.code = code;
  }

  addStatement(node) {
    switch (node.type) {
      case 'ImportDeclaration':
        return this.#addImport(node);
      case 'ExportNamedDeclaration':
        if (!node.declaration) return this.#blank(node.start, node.end);
        this.#blank(node.start, node.declaration.start);
        return this.addStatement(node.declaration);
      case 'ExportAllDeclaration':
        return this.#blank(node.start, node.end);
      case 'ExportDefaultDeclaration':
        return this.#addDefault(node);
      case 'FunctionDeclaration':
        return this.#addFunction(node);
      case 'ClassDeclaration':
        this.names.add(node.id.name);
        this.#insert(node.start, `!(${node.id.name} = `);
        this.#insert(node.end, ');');
        return this.#walk(node);
      case 'VariableDeclaration':
        if (['let', 'const', 'var'].includes(node.kind)) this.#assign(node);
        return this.#walk(node);
      default:
        return this.#walk(node);
    }
  }

  finish(last) {
    const isDefault = last?.type === 'ExportDefaultDeclaration' && !isNamed(last.declaration);
    const hasResult = last?.type === 'ExpressionStatement' || isDefault;
    if (this.isAsync && hasResult) {
      const { start, end } = last.expression ?? last.declaration;
      this.#insert(start, 'return (', true);
      this.#insert(end, ');');
    }
    const { names, imports, functions, isAsync } = this;
    return { names: [...names], imports, functions, isAsync, hasResult, body: this.#edited(0, this.code.length) };
  }

  #addImport(node) {
    const attributes = (node.attributes ?? []).map(({ key, value }) => [key.name ?? key.value, value.value]);
    const bindings = node.specifiers.map((specifier) => ({
      local: specifier.local.name,
      imported: importedName(specifier),
    }));
    for (const { local } of bindings) this.names.add(local);
    this.imports.push({ specifier: node.source.value, attributes: Object.fromEntries(attributes), bindings });
    this.isAsync = true;
    this.#blank(node.start, node.end);
  }

  #addDefault(node) {
    const { declaration } = node;
    if (isNamed(declaration)) {
      this.#blank(node.start, declaration.start);
      this.addStatement(declaration);
      return;
    }
    this.#blank(node.start, declaration.start);
    this.#insert(declaration.start, '(');
    this.#insert(declaration.end, ');');
    this.#walk(declaration);
  }

  /** Each function becomes a script that runs before the body, because function declarations are hoisted. */
  #addFunction(node) {
    const { name, start, end } = node.id;
    this.names.add(name);
    // The function's text needs the edits inside. Without its own name, a recursive call finds a later redefinition.
    this.#walk(node);
    const before = this.#edits.length;
    this.#blank(start, end, ' ');
    const text = `${name} = ${this.#edited(node.start, node.end)}`;
    this.#edits.length = before;
    this.#edits = this.#edits.filter((edit) => edit.start < node.start || edit.end > node.end);
    const { line, column } = node.loc.start;
    this.functions.push({ text, lineOffset: line - 1, columnOffset: column - name.length - 3 });
    this.#blank(node.start, node.end);
  }

  /** Rewrites `const a = 1, {b} = c;` as `    !(a = 1, {b} = c);`. The padding keeps the columns. */
  #assign(node) {
    for (const { id } of node.declarations) for (const name of namesOf(id)) this.names.add(name);
    const first = node.declarations[0].start;
    this.#blank(node.start, first - 2, ' ');
    this.#replace(first - 2, first, '!(');
    for (const declarator of node.declarations) {
      if (declarator.init) continue;
      // A `var` without an initializer keeps the current value.
      if (node.kind === 'var') this.#replace(declarator.start, declarator.end, '0');
      else this.#insert(declarator.end, ' = void 0');
    }
    const hasSemicolon = this.code[node.end - 1] === ';';
    this.#insert(node.declarations.at(-1).end, hasSemicolon ? ')' : ');');
  }

  /** Rewrites `for (var i = 0;;)` as `for (i = 0;;)`. */
  #assignInLoop(node) {
    for (const { id } of node.declarations) for (const name of namesOf(id)) this.names.add(name);
    this.#replace(node.start, node.declarations[0].start, '');
  }

  /** Rewrites nested `var` declarations, `import()` and `import.meta`, and detects top-level `await`. */
  #walk(node, isInFunction = false) {
    const isInside = isInFunction || /Function/.test(node.type) || node.type === 'StaticBlock';
    if (!isInside && (node.type === 'AwaitExpression' || (node.type === 'ForOfStatement' && node.await))) {
      this.isAsync = true;
    }
    if (node.type === 'MetaProperty' && node.meta.name === 'import')
      this.#replace(node.start, node.end, '__importMeta');
    if (node.type === 'ImportExpression') this.#replace(node.start, node.start + 'import'.length, '__import');
    for (const [key, child] of Object.entries(node)) {
      for (const part of Array.isArray(child) ? child : [child]) {
        if (typeof part?.type !== 'string') continue;
        if (!isInside && part.type === 'VariableDeclaration' && part.kind === 'var') {
          const isLoopHead = node.type.startsWith('For') && key !== 'body';
          if (isLoopHead) this.#assignInLoop(part);
          else this.#assign(part);
        }
        this.#walk(part, isInside || (node.type === 'PropertyDefinition' && key === 'value'));
      }
    }
  }

  #insert(at, text, isFirst = false) {
    this.#edits[isFirst ? 'unshift' : 'push']({ start: at, end: at, text });
  }

  /** Keeps the line breaks of the replaced code. */
  #replace(start, end, text) {
    this.#edits.push({ start, end, text: text + this.code.slice(start, end).replaceAll(/[^\n\r\u2028\u2029]+/g, '') });
  }

  /** Overwrites code with spaces. The semicolon separates the statements before and after that code. */
  #blank(start, end, first = ';') {
    const rest = this.code.slice(start, end).replaceAll(/[^\n\r\u2028\u2029]/g, ' ');
    this.#edits.push({ start, end, text: first + rest.slice(1) });
  }

  #edited(start, end) {
    const edits = this.#edits.filter((edit) => edit.start >= start && edit.end <= end);
    let text = '';
    let at = start;
    for (const edit of edits.sort((a, b) => a.start - b.start || a.end - b.end)) {
      if (edit.start < at) continue; // An earlier edit has replaced this range.
      text += this.code.slice(at, edit.start) + edit.text;
      at = edit.end;
    }
    return text + this.code.slice(at, end);
  }
}

function importedName(specifier) {
  if (specifier.type === 'ImportNamespaceSpecifier') return null;
  if (specifier.type === 'ImportDefaultSpecifier') return 'default';
  return specifier.imported.name ?? specifier.imported.value;
}

/** `export default` also accepts functions and classes without a name, which declare no variable. */
function isNamed(declaration) {
  return declaration.type.endsWith('Declaration') && declaration.id !== null;
}

function namesOf(pattern) {
  switch (pattern?.type) {
    case 'Identifier':
      return [pattern.name];
    case 'ObjectPattern':
      return pattern.properties.flatMap((property) => namesOf(property.value ?? property.argument));
    case 'ArrayPattern':
      return pattern.elements.flatMap((element) => namesOf(element));
    case 'AssignmentPattern':
      return namesOf(pattern.left);
    case 'RestElement':
      return namesOf(pattern.argument);
    default:
      return [];
  }
}
