/**
 * Makes scripts of cells. What a cell declares at its top is a variable of the session, so the declarations become
 * assignments to variables that are declared once, and can be declared again by any later cell. Everything else stays
 * in its line, and nearly everything in its column, so that errors show where they are in the code.
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

  /** Functions can be called before the line that declares them: they are scripts of their own, and run first. */
  #addFunction(node) {
    const { name, start, end } = node.id;
    this.names.add(name);
    // Its edits are made before it is taken out, and its name goes, so that calls of itself find a later one too.
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

  /** `const a = 1, {b} = c;` is `!(a = 1, {b} = c);`, in as many characters. */
  #assign(node) {
    for (const { id } of node.declarations) for (const name of namesOf(id)) this.names.add(name);
    const first = node.declarations[0].start;
    this.#blank(node.start, first - 2, ' ');
    this.#replace(first - 2, first, '!(');
    for (const declarator of node.declarations) {
      if (declarator.init) continue;
      // A `var` without a value leaves the one that there is.
      if (node.kind === 'var') this.#replace(declarator.start, declarator.end, '0');
      else this.#insert(declarator.end, ' = void 0');
    }
    const hasSemicolon = this.code[node.end - 1] === ';';
    this.#insert(node.declarations.at(-1).end, hasSemicolon ? ')' : ');');
  }

  /** `for (var i = 0;;)` is `for (i = 0;;)`. */
  #assignInLoop(node) {
    for (const { id } of node.declarations) for (const name of namesOf(id)) this.names.add(name);
    this.#replace(node.start, node.declarations[0].start, '');
  }

  /** What is below a statement: variables that belong to the top, awaits, and what only a module can ask for. */
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

  /** Lines stay lines. */
  #replace(start, end, text) {
    this.#edits.push({ start, end, text: text + this.code.slice(start, end).replaceAll(/[^\n\r\u2028\u2029]+/g, '') });
  }

  /** A semicolon in its place: what stands before and behind are statements of their own. */
  #blank(start, end, first = ';') {
    const rest = this.code.slice(start, end).replaceAll(/[^\n\r\u2028\u2029]/g, ' ');
    this.#edits.push({ start, end, text: first + rest.slice(1) });
  }

  #edited(start, end) {
    const edits = this.#edits.filter((edit) => edit.start >= start && edit.end <= end);
    let text = '';
    let at = start;
    for (const edit of edits.sort((a, b) => a.start - b.start || a.end - b.end)) {
      if (edit.start < at) continue; // Inside of what has been taken out.
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

/** A function or a class with a name is declared by it. */
function isNamed(declaration) {
  return declaration.type.endsWith('Declaration') && declaration.id !== null;
}

/** All names in a pattern. */
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
