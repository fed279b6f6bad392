/** After any sequence of changes, a client that applies all events knows the same paths as the tree. */
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { fc } from '../../../../test/harness/seed.ts';
import { pollEvents } from '../../kit/events/follow-events.ts';
import { Inotify } from '../../platform/files/inotify.ts';
import { WatchedFiles } from '../../platform/files/watched-files.ts';
import { Accounts } from '../identity/accounts.ts';
import { PathResolver } from '../processes/directory.ts';
import { SystemAccounts } from '../../platform/host/accounts.ts';
import type { WatchEvent } from './watch-event.ts';
import type { Watcher } from './watcher.ts';
import { Watchers } from './watchers.ts';

let directory = '';
let watchers: Watchers;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'boxkeep-watch-'));
  mkdirSync(join(directory, 'outside'));
  watchers = openWatchers();
});

afterEach(() => {
  watchers[Symbol.dispose]();
  rmSync(directory, { recursive: true });
});

function openWatchers(openEventQueue = Inotify.open): Watchers {
  const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const accounts = new Accounts({ database: new SystemAccounts(), own, defaultUser: null, platform: 'linux' });
  return new Watchers({
    paths: new PathResolver(accounts),
    files: new WatchedFiles(),
    openEventQueue,
    onFault: () => undefined,
    now: Date.now,
  });
}

async function watch(path: string, on = watchers): Promise<Watcher> {
  const spec = { path, recursive: true, exclude: [], includePatterns: [], debounceMs: 50, user: null };
  return (await on.create(spec)).watcher;
}

/** Reads until `isDone`, for at most `timeoutMs`. */
async function read(watcher: Watcher, isDone: (events: readonly WatchEvent[]) => boolean, timeoutMs = 10_000) {
  const events: WatchEvent[] = [];
  const timeout = AbortSignal.timeout(timeoutMs);
  for (let cursor = 0; !isDone(events) && !timeout.aborted;) {
    const page = await pollEvents(watcher, { cursor, limit: 1000, waitMs: timeoutMs, signal: timeout });
    expect(page.isOverflow).toBe(false);
    cursor = page.cursor;
    events.push(...page.events);
  }
  return events;
}

function pathsOf(root: string): string[] {
  return (readdirSync(root, { recursive: true }) as string[]).toSorted();
}

/** The paths that a client knows after it starts with `paths` and applies `events`. */
function apply(paths: readonly string[], events: readonly WatchEvent[]): string[] {
  const known = new Set(paths);
  const take = (path: string) => {
    const taken = [...known].filter((other) => other === path || other.startsWith(`${path}/`));
    for (const each of taken) known.delete(each);
    return taken;
  };
  for (const { type, path, oldPath } of events) {
    if (type === 'create') known.add(path);
    if (type === 'remove') take(path);
    if (type !== 'rename' || oldPath === null) continue;
    const moved = take(oldPath);
    take(path);
    for (const each of moved) known.add(path + each.slice(oldPath.length));
    known.add(path);
  }
  return [...known].toSorted();
}

type Step =
  | { readonly does: 'directory' | 'file' | 'remove' | 'leave' | 'enter'; readonly path: string }
  | { readonly does: 'move'; readonly path: string; readonly to: string }
  | { readonly does: 'pause'; readonly ms: number };

const name = fc.constantFrom('a', 'b', 'c');
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('directory' as const), path }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('file' as const), path }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('move' as const), path, to: path }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constantFrom('remove' as const, 'leave' as const), path }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('enter' as const), path }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('pause' as const), ms: fc.integer({ min: 0, max: 30 }) }) },
);

let strangers = 0;

/** A step that the file system refuses is skipped. */
async function take(root: string, outside: string, next: Step): Promise<void> {
  if (next.does === 'pause') return Bun.sleep(next.ms);
  const place = join(root, next.path);
  const stranger = join(outside, `s${(strangers += 1)}`);
  try {
    if (next.does === 'directory') mkdirSync(place, { recursive: true });
    else if (next.does === 'file') writeFileSync(place, 'x');
    else if (next.does === 'remove') rmSync(place, { recursive: true });
    else if (next.does === 'leave') renameSync(place, stranger);
    else if (next.does === 'move') renameSync(place, join(root, next.to));
    else {
      mkdirSync(join(stranger, 'a/b'), { recursive: true });
      writeFileSync(join(stranger, 'a/f'), '');
      renameSync(stranger, place);
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}

test('the events lead to the actual tree, after any steps at any pace', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 10 }),
      fc.array(step, { minLength: 1, maxLength: 40 }),
      async (before, during) => {
        const root = mkdtempSync(join(directory, 'tree-'));
        const outside = join(directory, 'outside');
        for (const each of before) await take(root, outside, each);
        const start = pathsOf(root);
        const watcher = await watch(root);
        for (const each of during) await take(root, outside, each);
        writeFileSync(join(root, 'end'), '');
        const isEqual = (events: readonly WatchEvent[]) =>
          events.some((event) => event.path === 'end') && Bun.deepEquals(apply(start, events), pathsOf(root));
        const events = await read(watcher, isEqual, 3000);
        watchers.release(watcher.id);
        const lines = events.map(
          ({ type, path: at, oldPath, isDirectory }) => `${type} ${oldPath ?? ''} ${at} ${isDirectory}`,
        );
        expect({ held: apply(start, events), lines }).toEqual({ held: pathsOf(root), lines });
      },
    ),
    { numRuns: Number(process.env['RUNS'] ?? 100) },
  );
});

/** The same step as a shell line, for a process outside the test. */
function lineOf(next: Step): string {
  if (next.does === 'pause') return ':';
  if (next.does === 'directory') return `mkdir -p ${next.path}`;
  if (next.does === 'file') return `: > ${next.path}`;
  if (next.does === 'remove') return `rm -r ${next.path}`;
  if (next.does === 'move') return `mv -T ${next.path} ${next.to}`;
  const stranger = `../outside/s${(strangers += 1)}`;
  if (next.does === 'leave') return `mv -T ${next.path} ${stranger}`;
  return `mkdir -p ${stranger}/a/b && : > ${stranger}/a/f && mv -T ${stranger} ${next.path}`;
}

test('the events lead to the actual tree while other processes move watched directories', async () => {
  const script = fc.array(step, { minLength: 20, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(script, script, async (first, second) => {
      const root = mkdtempSync(join(directory, 'tree-'));
      const watcher = await watch(root);
      const run = (steps: readonly Step[]) =>
        Bun.spawn(['sh', '-c', `exec 2>&-\n${steps.map(lineOf).join('\n')}\n:`], { cwd: root }).exited;
      await Promise.all([run(first), run(second)]);
      writeFileSync(join(root, 'end'), '');
      const isEqual = (events: readonly WatchEvent[]) =>
        events.some((event) => event.path === 'end') && Bun.deepEquals(apply([], events), pathsOf(root));
      const events = await read(watcher, isEqual, 3000);
      watchers.release(watcher.id);
      expect(apply([], events)).toEqual(pathsOf(root));
    }),
    { numRuns: Number(process.env['RUNS'] ?? 20), endOnFailure: true },
  );
});

test('the events lead to the actual tree without inotify', async () => {
  using polling = openWatchers(() => {
    throw Object.assign(new Error('EMFILE: no instance is left'), { code: 'EMFILE' });
  });
  const steps = fc.array(step, { minLength: 1, maxLength: 25 });
  await fc.assert(
    fc.asyncProperty(steps, steps, steps, async (before, first, second) => {
      const root = mkdtempSync(join(directory, 'tree-'));
      const outside = join(directory, 'outside');
      for (const each of before) await take(root, outside, each);
      const start = pathsOf(root);
      const watcher = await watch(root, polling);
      for (const each of first) await take(root, outside, each);
      writeFileSync(join(root, 'middle'), '');
      const seen = await read(watcher, (events) => events.some((event) => event.path === 'middle'));
      expect(seen.length).toBeGreaterThan(0);
      for (const each of second) await take(root, outside, each);
      writeFileSync(join(root, 'end'), '');
      const isReported = (events: readonly WatchEvent[]) =>
        events.some((event) => event.path === 'end') && Bun.deepEquals(apply(start, events), pathsOf(root));
      const events = await read(watcher, isReported, 3000);
      polling.release(watcher.id);
      expect(apply(start, events)).toEqual(pathsOf(root));
    }),
    { numRuns: Number(process.env['RUNS'] ?? 5), endOnFailure: true },
  );
});
