/** A thousand random operations through the daemon give the same tree as plain system calls. */
import {
  appendFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { showFigures } from '../harness/figures.ts';
import { expect, test } from '../harness/sandbox.ts';
import { seed } from '../harness/seed.ts';

type Verb = 'write' | 'append' | 'mkdir' | 'copy' | 'move' | 'delete' | 'link';

interface Operation {
  readonly verb: Verb;
  /** Relative to the root of the tree, as the other paths are. */
  readonly path: string;
  readonly destination: string;
  readonly text: string;
  /** The value of parents, overwrite or recursive. */
  readonly flag: boolean;
}

/** Numbers below n, the same for the same beginning. */
function randomFrom(beginning: number): (n: number) => number {
  let state = beginning;
  return (n) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

function operationFrom(random: (n: number) => number): Operation {
  const verbs: Verb[] = [
    'write',
    'write',
    'append',
    'append',
    'mkdir',
    'copy',
    'copy',
    'move',
    'move',
    'delete',
    'link',
  ];
  const path = () => Array.from({ length: 1 + random(3) }, () => 'abcd'[random(4)]).join('/');
  return {
    verb: verbs[random(verbs.length)] ?? 'write',
    path: path(),
    destination: path(),
    text: `${random(1000)};`,
    flag: random(3) > 0,
  };
}

const lstat = (path: string) => lstatSync(path, { throwIfNoEntry: false });

/** The target of a path whose last part may be a link, also of a dangling one. Throws ELOOP. */
function settle(path: string): string {
  for (let at = path, links = 0; ; links++) {
    if (!lstat(at)?.isSymbolicLink()) return at;
    if (links === 40) throw new Error('ELOOP');
    at = join(realpathSync(dirname(at)), readlinkSync(at));
    if (at === dirname(at)) throw new Error('EISDIR');
  }
}

function isInside(path: string, directory: string): boolean {
  let at = path;
  while (!existsSync(at)) at = dirname(at);
  return `${realpathSync(at)}/`.startsWith(`${realpathSync(directory)}/`);
}

/** Removes the destination if a source may replace it, else throws. */
function clear(source: string, destination: string, overwrite: boolean): void {
  const [from, to] = [lstatSync(source), lstat(destination)];
  if (!to) return;
  if (!overwrite) throw new Error('EEXIST');
  if (from.isDirectory() !== to.isDirectory()) throw new Error('another kind');
  if (from.ino === to.ino || (to.isDirectory() && isInside(dirname(source), destination))) throw new Error('EINVAL');
  rmSync(destination, { recursive: true });
}

/** The model: the documented effect of each verb, by plain calls. */
const model: Readonly<Record<Verb, (root: string, operation: Operation) => void>> = {
  write(root, { path, text }) {
    const at = makeParents(join(root, path));
    writeFileSync(at, text);
  },
  append(root, { path, text }) {
    const at = makeParents(join(root, path));
    appendFileSync(at, text);
  },
  mkdir(root, { path, flag }) {
    const at = settle(join(root, path));
    if (flag && lstat(at)?.isDirectory()) return;
    if (flag) mkdirSync(dirname(at), { recursive: true });
    mkdirSync(at);
  },
  copy(root, { path, destination, flag }) {
    const source = settle(join(root, path));
    const isDirectory = statSync(source).isDirectory();
    if (isDirectory && isInside(dirname(join(root, destination)), source)) throw new Error('EINVAL');
    const to = makeParents(join(root, destination), !isDirectory);
    clear(source, to, flag);
    cpSync(source, to, { recursive: true, verbatimSymlinks: true });
  },
  move(root, { path, destination, flag }) {
    const source = join(root, path);
    const isDirectory = lstatSync(source).isDirectory();
    if (isDirectory && isInside(dirname(join(root, destination)), source)) throw new Error('EINVAL');
    const to = makeParents(join(root, destination), false);
    clear(source, to, flag);
    renameSync(source, to);
  },
  delete(root, { path, flag }) {
    const at = join(root, path);
    if (!lstatSync(at).isDirectory()) unlinkSync(at);
    else if (flag) rmSync(at, { recursive: true });
    else rmdirSync(at);
  },
  link(root, { path, destination }) {
    symlinkSync(destination, join(root, path));
  },
};

function makeParents(path: string, followLinks = true): string {
  mkdirSync(dirname(path), { recursive: true });
  const at = followLinks ? settle(path) : path;
  mkdirSync(dirname(at), { recursive: true });
  return at;
}

const bodyOf: Readonly<Record<Exclude<Verb, 'link'>, (root: string, operation: Operation) => [string, object]>> = {
  write: (root, { path, text }) => ['write', { path: join(root, path), content: text }],
  append: (root, { path, text }) => ['write', { path: join(root, path), content: text, append: true }],
  mkdir: (root, { path, flag }) => ['mkdir', { path: join(root, path), parents: flag }],
  copy: (root, { path, destination, flag }) => [
    'copy',
    { path: join(root, path), destination: join(root, destination), overwrite: flag },
  ],
  move: (root, { path, destination, flag }) => [
    'move',
    { source: join(root, path), destination: join(root, destination), overwrite: flag },
  ],
  delete: (root, { path, flag }) => ['delete', { path: join(root, path), recursive: flag }],
};

function treeOf(root: string, prefix = ''): string[] {
  return readdirSync(join(root, prefix))
    .toSorted()
    .flatMap((name) => {
      const path = join(prefix, name);
      const stat = lstatSync(join(root, path));
      if (stat.isDirectory()) return [`${path}/`, ...treeOf(root, path)];
      return stat.isSymbolicLink()
        ? [`${path} -> ${readlinkSync(join(root, path))}`]
        : [`${path}: ${readFileSync(join(root, path), 'utf8')}`];
    });
}

function succeeds(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false; // The model refuses, so the daemon must refuse too.
  }
}

for (const run of [1, 2]) {
  test(`FILE-2 FILE-8 FILE-9 FILE-10 FILE-11 1000 random operations end as plain system calls do (run ${run})`, async ({
    sandbox,
  }) => {
    const [real, expected] = [join(sandbox.directory, 'real'), join(sandbox.directory, 'model')];
    for (const root of [real, expected]) mkdirSync(root);
    const random = randomFrom(seed * run);
    const done = new Map<string, number>();
    for (let n = 0; n < 1000; n++) {
      const operation = operationFrom(random);
      const { verb } = operation;
      const isExpected = succeeds(() => model[verb](expected, operation));
      let isDone: boolean;
      if (verb === 'link') {
        isDone = succeeds(() => model.link(real, operation));
      } else {
        const [route, body] = bodyOf[verb](real, operation);
        const answer = await sandbox.request(`POST /v2/fs/${route}`, body);
        expect(answer.status).toBeLessThan(500);
        isDone = answer.status === 200;
      }
      const step = `${n}: ${JSON.stringify(operation)}`;
      expect([step, isDone]).toEqual([step, isExpected]);
      expect([step, ...treeOf(real)]).toEqual([step, ...treeOf(expected)]);
      const outcome = `${verb} ${isDone}`;
      done.set(outcome, (done.get(outcome) ?? 0) + 1);
    }
    showFigures({ operations: 1000 });
    // Each verb has succeeded and has been refused.
    for (const verb of ['write', 'append', 'mkdir', 'copy', 'move', 'delete']) {
      expect(Math.min(done.get(`${verb} true`) ?? 0, done.get(`${verb} false`) ?? 0)).toBeGreaterThan(3);
    }
  });
}
