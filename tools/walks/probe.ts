/** Preloaded into a daemon: records which functions of the sources run, and writes them down at SIGUSR2. */
import { renameSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { plugin } from 'bun';
import ts from 'typescript';

const sources = join(import.meta.dirname, '../../daemon/src');
/** `measure.ts` creates the directory, one for each program. */
const directory = process.env['BOXKEEP_WALKS'] ?? '';
const names: string[] = [];
let ran = new Set<number>();
let records = 0;

Object.assign(globalThis, { recordRun: (id: number) => ran.add(id) });

process.on('SIGUSR2', () => {
  const path = join(directory, `${++records}.json`);
  writeFileSync(`${path}.part`, JSON.stringify([...ran].map((id) => names[id])));
  renameSync(`${path}.part`, path);
  ran = new Set();
});
writeFileSync(join(directory, 'pid'), String(process.pid));

plugin({
  name: 'walks',
  setup(build) {
    build.onLoad({ filter: /\/daemon\/src\/.*\.ts$/ }, async ({ path }) => ({
      contents: withProbes(relative(sources, path), await Bun.file(path).text()),
      loader: 'ts',
    }));
  },
});

/** A callback counts as the function that contains it, because a reader meets both at once. */
function withProbes(path: string, text: string): string {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
  const inserts: { at: number; text: string }[] = [];
  const visit = (node: ts.Node, outer: string): void => {
    const name = ts.isFunctionLike(node) ? (nameOf(node) ?? outer) : outer;
    const body = ts.isFunctionLike(node) && 'body' in node ? (node.body as ts.Node | undefined) : undefined;
    if (body) {
      const call = `recordRun(${names.push(`${path} ${name}`) - 1})`;
      if (ts.isBlock(body)) inserts.push({ at: startOf(node, body), text: `;${call};` });
      else inserts.push({ at: body.getStart(), text: `(${call}, (` }, { at: body.getEnd(), text: '))' });
    }
    ts.forEachChild(node, (child) => visit(child, name));
  };
  visit(file, 'module');
  return inserts
    .sort((one, other) => other.at - one.at)
    .reduce((result, insert) => result.slice(0, insert.at) + insert.text + result.slice(insert.at), text);
}

/** The constructor of a subclass begins with `super`. */
function startOf(node: ts.Node, body: ts.Block): number {
  const isSuper = (statement: ts.Statement): boolean => statement.getText().startsWith('super(');
  const first = ts.isConstructorDeclaration(node) ? body.statements.find(isSuper) : undefined;
  return first?.getEnd() ?? body.getStart() + 1;
}

function nameOf(node: ts.Node): string | undefined {
  const { name } = node as { name?: ts.Node };
  if (name) return name.getText();
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  const { parent } = node;
  const isNamed =
    ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent);
  return isNamed ? parent.name.getText() : undefined;
}
