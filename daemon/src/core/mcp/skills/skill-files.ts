/** Lists the files of a skill, in all its folders, without those that links lead to outside of the directory. */
import { ConfinedEntry } from './confined-file.ts';
import { reasonOf } from './problem.ts';

export interface SkillFiles {
  /** Paths below the folder of the skill, in order; without SKILL.md itself. */
  readonly files: readonly string[];
  /** True when the skill has more files, or deeper folders, than one list holds. */
  readonly areFilesCut: boolean;
}

const maxFiles = 500;
const maxDepth = 8;
/** Entries that a walk looks at, files or not. */
const maxEntries = 5000;

interface Folder {
  readonly path: string;
  readonly depth: number;
}

/** `root` is the directory of all skills and `skill` the folder of one, both without links. */
export async function listSkillFiles(root: string, skill: string, signal: AbortSignal): Promise<SkillFiles> {
  const files: string[] = [];
  const folders: Folder[] = [{ path: skill, depth: 1 }];
  let [entries, isCut] = [0, false];
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    signal.throwIfAborted();
    const listed = await namesIn(folder.path, root, maxEntries - entries);
    entries += listed.names.length;
    isCut ||= listed.isCut;
    for (const name of listed.names) {
      const path = `${folder.path}/${name}`;
      if (name.startsWith('.') || path === `${skill}/SKILL.md`) continue;
      const found = await look(path, root);
      if (found === 'folder' && folder.depth < maxDepth) folders.push({ path, depth: folder.depth + 1 });
      else if (found === 'folder') isCut = true;
      else if (found === 'file') files.push(path.slice(skill.length + 1));
    }
  }
  const ordered = files.toSorted();
  return { files: ordered.slice(0, maxFiles), areFilesCut: isCut || ordered.length > maxFiles };
}

async function namesIn(path: string, root: string, maxNames: number): Promise<{ names: string[]; isCut: boolean }> {
  try {
    await using folder = await ConfinedEntry.open(path, root);
    return await folder.names(maxNames);
  } catch (error) {
    reasonOf(error); // Throws for a bug; a folder that cannot be read has no files to show.
    return { names: [], isCut: false };
  }
}

/** Null for what is neither a file nor a folder below the root. Folders behind links are not entered: links may circle. */
async function look(path: string, root: string): Promise<'file' | 'folder' | null> {
  try {
    await using entry = await ConfinedEntry.open(path, root);
    if (entry.stat.isDirectory()) return entry.path === path ? 'folder' : null;
    return entry.stat.isFile() ? 'file' : null;
  } catch (error) {
    reasonOf(error); // Throws for a bug; otherwise the entry has gone, or a link leads outside.
    return null;
  }
}
