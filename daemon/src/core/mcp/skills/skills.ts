/** Finds the skills below SVC_SKILLS_PATH and loads one; reads the disk at every call, so changes show at once. */
import { errnoOf } from '../../../kit/errno.ts';
import { CoreError } from '../../../kit/errors.ts';
import { showName } from '../../../kit/text/path-text.ts';
import { TimeSlices } from '../../../kit/slices.ts';
import { wholeUtf8Length } from '../../../kit/text/text.ts';
import { ConfinedEntry, rootOf } from './confined-file.ts';
import { maxFrontMatterBytes, readFrontMatter, textOf, type FrontMatter } from './front-matter.ts';
import { reasonOf } from './problem.ts';
import { listSkillFiles, type SkillFiles } from './skill-files.ts';

export interface SkillsDeps {
  /** The directory of skill folders; null when none is configured. */
  readonly directory: string | null;
  readonly parseYaml: (text: string) => unknown;
}

export interface Skill {
  readonly name: string;
  readonly description: string;
  /** The folder of the skill, with all links resolved. */
  readonly directory: string;
}

export interface InvalidSkill {
  /** The name of the folder. */
  readonly folder: string;
  readonly reason: string;
}

export interface SkillList {
  /** In the order of their folders. */
  readonly skills: readonly Skill[];
  readonly invalid: readonly InvalidSkill[];
  /** True when the directory has more folders than one list holds. */
  readonly isCut: boolean;
}

export interface LoadedSkill extends Skill, SkillFiles {
  /** SKILL.md without its front matter. */
  readonly body: string;
  /** The path of SKILL.md. */
  readonly bodyPath: string;
  /** True when the body is longer than an answer holds; the rest is in the file. */
  readonly isBodyCut: boolean;
}

const maxFolders = 1000;
/** More names are not read, so that a directory with millions of entries does no harm. */
const maxRootNames = 10_000;
const maxBodyBytes = 256 * 1024;
/** Folders that are read at the same time. */
const concurrency = 16;

interface Found extends Skill, FrontMatter {
  readonly bodyPath: string;
}

export class Skills {
  constructor(private readonly deps: SkillsDeps) {}

  /** Throws `unavailable` without a readable directory. */
  async list(signal: AbortSignal): Promise<SkillList> {
    const { found, invalid, isCut } = await this.#find(signal);
    return {
      skills: found.map(({ name, description, directory }) => ({ name, description, directory })),
      invalid,
      isCut,
    };
  }

  /** Throws `unavailable`, and `bad_argument` for an unknown name or an invalid skill. */
  async load(name: string, signal: AbortSignal): Promise<LoadedSkill> {
    const { found, invalid } = await this.#find(signal);
    const skill = found.find((each) => each.name === name);
    if (skill === undefined) throw unknownSkill(name, found, invalid);
    try {
      return await this.#read(skill, signal);
    } catch (error) {
      throw brokenSkill(skill.name, reasonOf(error));
    }
  }

  async #find(signal: AbortSignal): Promise<{ found: Found[]; invalid: InvalidSkill[]; isCut: boolean }> {
    const root = await this.#root();
    const { folders, isCut } = await foldersIn(root);
    const [found, invalid]: [Found[], InvalidSkill[]] = [[], []];
    const seen = new Set<string>();
    const slices = new TimeSlices();
    for (let at = 0; at < folders.length; at += concurrency) {
      signal.throwIfAborted();
      if (slices.isOver) await slices.pause();
      const batch = folders.slice(at, at + concurrency);
      const read = await Promise.all(batch.map((folder) => this.#readFolder(root, folder)));
      for (const each of read) {
        if (each === null) continue;
        if ('reason' in each) invalid.push(each);
        else if (seen.has(each.name)) invalid.push(duplicate(each, found));
        else {
          seen.add(each.name);
          found.push(each);
        }
      }
    }
    return { found, invalid, isCut };
  }

  async #root(): Promise<string> {
    const { directory } = this.deps;
    if (directory === null) {
      throw new CoreError('unavailable', 'no directory of skills is configured', {
        isRetryable: false,
        hint: 'Start the daemon with SVC_SKILLS_PATH set to a directory of skill folders.',
      });
    }
    try {
      return await rootOf(directory);
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === null) throw error;
      throw new CoreError('unavailable', `SVC_SKILLS_PATH ${directory} cannot be opened as a directory (${errno})`, {
        isRetryable: false,
        hint: 'Create the directory, or start the daemon with another SVC_SKILLS_PATH.',
      });
    }
  }

  /** Null for a file beside the skill folders. */
  async #readFolder(root: string, folder: string): Promise<Found | InvalidSkill | null> {
    try {
      await using entry = await ConfinedEntry.open(`${root}/${folder}`, root);
      if (!entry.stat.isDirectory()) return null;
      const { path: directory } = entry;
      const bodyPath = `${directory}/SKILL.md`;
      await using file = await ConfinedEntry.open(bodyPath, root);
      // One byte more than the front matter may have shows whether it is too long.
      const start = await file.readStart(maxFrontMatterBytes + 1);
      return { ...readFrontMatter(start, this.deps.parseYaml), directory, bodyPath };
    } catch (error) {
      return { folder: showName(folder), reason: reasonOf(error) };
    }
  }

  async #read({ directory, bodyPath }: Found, signal: AbortSignal): Promise<LoadedSkill> {
    const root = await this.#root();
    await using file = await ConfinedEntry.open(bodyPath, root);
    const bytes = await file.readStart(maxFrontMatterBytes + maxBodyBytes + 1);
    // The file may have changed since it was found.
    const { name, description, bodyOffset } = readFrontMatter(bytes, this.deps.parseYaml);
    const all = bytes.subarray(bodyOffset);
    const isBodyCut = bytes.length < file.stat.size || all.length > maxBodyBytes;
    const part = all.subarray(0, maxBodyBytes);
    const body = textOf(isBodyCut ? part.subarray(0, wholeUtf8Length(part)) : part).trim();
    const listed = await listSkillFiles(root, directory, signal);
    return { name, description, directory, body, bodyPath, isBodyCut, ...listed };
  }
}

/** Hidden names are left out: they are state of tools, such as `.git`. */
async function foldersIn(root: string): Promise<{ folders: string[]; isCut: boolean }> {
  await using directory = await ConfinedEntry.open(root, root);
  const { names, isCut } = await directory.names(maxRootNames);
  const folders = names.filter((name) => !name.startsWith('.')).toSorted();
  return { folders: folders.slice(0, maxFolders), isCut: isCut || folders.length > maxFolders };
}

function duplicate({ name, directory }: Found, found: readonly Found[]): InvalidSkill {
  const first = found.find((each) => each.name === name)?.directory ?? '';
  return { folder: lastName(directory), reason: `its name ${name} is that of the skill in ${lastName(first)}` };
}

function lastName(path: string): string {
  return showName(path.slice(path.lastIndexOf('/') + 1));
}

const maxNamed = 20;

function unknownSkill(name: string, found: readonly Skill[], invalid: readonly InvalidSkill[]): CoreError {
  const broken = invalid.find(({ folder }) => folder === name);
  if (broken !== undefined) return brokenSkill(name, broken.reason);
  const names = found.map((skill) => skill.name);
  const more = names.length > maxNamed ? `, and ${names.length - maxNamed} more` : '';
  return new CoreError('bad_argument', `there is no skill ${JSON.stringify(name)}`, {
    hint:
      names.length === 0
        ? 'No skill is installed: the directory has no folder with a valid SKILL.md.'
        : `Pass the name of one of these skills: ${names.slice(0, maxNamed).join(', ')}${more}.`,
  });
}

function brokenSkill(name: string, reason: string): CoreError {
  return new CoreError('bad_argument', `the skill ${JSON.stringify(name)} cannot be loaded: ${reason}`, {
    hint: 'Correct the skill on disk, and load it again; no restart is needed.',
  });
}
