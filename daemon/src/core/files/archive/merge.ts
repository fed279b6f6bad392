/** Merges an unpacked tree into an existing directory. Existing entries with other names stay. */
import { FileFailure } from '../../../kit/file-failure.ts';
import { showPath } from '../../../kit/text/path-text.ts';
import type { Directory } from '../../../platform/files/directory.ts';
import type { ArchiveShape } from './shape.ts';
import type { TimeSlices } from '../../../kit/slices.ts';

const operation = 'tree';

/** Throws before anything is moved, when only one side has a directory under the same name. */
export async function assertMergeable(
  directory: Directory,
  shape: ArchiveShape,
  slices: TimeSlices,
  path = '',
): Promise<void> {
  for (const name of shape.namesIn(path)) {
    if (slices.isOver) await slices.pause();
    const inner = path === '' ? name : `${path}/${name}`;
    const stat = directory.findNow(name);
    if (!stat) continue;
    const at = `${directory.path === '/' ? '' : directory.path}/${name}`;
    const isDirectory = shape.directory(inner) !== null;
    if (isDirectory && !stat.isDirectory()) {
      throw conflict(at, `is ${stat.isSymbolicLink() ? 'a link' : 'a file'}, where the archive has a directory`);
    }
    if (!isDirectory && stat.isDirectory()) throw conflict(at, 'is a directory, where the archive has none');
    if (!isDirectory) continue;
    if (stat.dev !== (await directory.own()).dev) throw otherFileSystem(at);
    await using below = await directory.openDirectory(name);
    await assertMergeable(below, shape, slices, inner);
  }
}

/** Moves a missing directory as a whole, and replaces each existing file in one step. No link is followed. */
export async function mergeTree(
  source: Directory,
  target: Directory,
  shape: ArchiveShape,
  slices: TimeSlices,
  path = '',
): Promise<void> {
  for (const name of shape.namesIn(path)) {
    if (slices.isOver) await slices.pause();
    const inner = path === '' ? name : `${path}/${name}`;
    if (shape.directory(inner) === null) {
      source.replaceNow(name, target, name);
    } else if (target.findNow(name)) {
      await using from = await source.openDirectory(name);
      await using to = await target.openDirectory(name);
      await mergeTree(from, to, shape, slices, inner);
    } else {
      await source.rename(name, target, name);
    }
  }
}

function conflict(path: string, what: string): FileFailure {
  return FileFailure.of(operation, path, 'EEXIST', {
    message: `${showPath(path)}: ${what}`,
    hint: 'Remove the existing entry, or choose another destination. Nothing has been unpacked.',
  });
}

function otherFileSystem(path: string): FileFailure {
  return FileFailure.of(operation, path, 'EXDEV', {
    kind: 'invalidTarget',
    message: `${showPath(path)}: is another file system`,
    hint: 'Send its members in a separate archive. Nothing has been unpacked.',
  });
}
