/** What a client may rely on when it watches files. */
import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync, appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { Watching } from '../harness/watching.ts';

function tree(sandbox: Sandbox): string {
  const root = join(sandbox.directory, 'tree');
  mkdirSync(root);
  return root;
}

test('WATCH-1 WATCH-2 EVT-1 V2WATCH-RECORD V2WATCH-EVENT a watcher tells what happens to files', async ({
  sandbox,
}) => {
  const root = tree(sandbox);
  writeFileSync(join(root, 'old'), 'x');
  const watching = await Watching.start(sandbox, root);

  writeFileSync(join(root, 'new'), 'hello');
  await watching.upTo('new');
  appendFileSync(join(root, 'old'), 'y');
  chmodSync(join(root, 'new'), 0o600);
  await watching.until('a write and a chmod', () => watching.events.length >= 3);
  renameSync(join(root, 'new'), join(root, 'newer'));
  await watching.upTo('newer');
  rmSync(join(root, 'newer'));
  await watching.until('a remove', () => watching.events.length >= 5);

  expect(watching.told).toEqual(['create new', 'write old', 'chmod new', 'rename new newer', 'remove newer']);
  expect(watching.record).toMatchObject({
    path: root,
    recursive: true,
    reused: false,
    initial_cursor: 0,
    backend: 'inotify',
    warning: null,
  });
});

test('V2WATCH-BURST directories that fill at once are told in full, and nothing twice', async ({ sandbox }) => {
  const root = tree(sandbox);
  const watching = await Watching.start(sandbox, root);
  const script = 'for i in $(seq 100); do mkdir -p d$i/a/b && for j in $(seq 30); do echo > d$i/a/b/f$j; done; done';
  await sandbox.run({ command: script, cwd: root });
  const all = readdirSync(root, { recursive: true }) as string[];
  await watching.until('all of it', () => watching.events.filter(({ type }) => type === 'create').length >= all.length);
  writeFileSync(join(root, 'end'), '');
  await watching.upTo('end');
  const created = watching.events.filter(({ type }) => type === 'create').map((event) => event.relative_path);
  expect(created.toSorted()).toEqual([...all, 'end'].toSorted());
});
