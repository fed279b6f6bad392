/** Splits a SKILL.md into its front matter, with the name and the description of the skill, and its body. */
import { takeCharacters } from '../../../kit/text/text.ts';
import { isFields, type Fields } from '../../../kit/types/fields.ts';
import { SkillProblem } from './problem.ts';

export interface FrontMatter {
  readonly name: string;
  readonly description: string;
  /** Offset of the body, in bytes. */
  readonly bodyOffset: number;
}

/** Maximum length of the front matter. */
export const maxFrontMatterBytes = 16 * 1024;
/** The limits of the Agent Skills format (agentskills.io/specification). */
const maxNameCharacters = 64;
const maxDescriptionCharacters = 1024;

/** A byte order mark may come first, as some editors write one. */
const opening = /^(?:\u00ef\u00bb\u00bf)?---[ \t]*\r?\n/;
const frontMatter = new RegExp(`${opening.source}([^]*?)(?<=\\n)---[ \\t]*(?:\\r?\\n|$)`);

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** `start` is the beginning of the file, of any length. Throws `SkillProblem`. */
export function readFrontMatter(start: Buffer, parseYaml: (text: string) => unknown): FrontMatter {
  // Read as one character per byte, so that offsets in the text are offsets in the file.
  const found = frontMatter.exec(start.subarray(0, maxFrontMatterBytes).toString('latin1'));
  if (found === null) throw new SkillProblem(whyNone(start));
  const fields = parse(textOf(Buffer.from(found[1] ?? '', 'latin1')), parseYaml);
  return {
    name: checkedName(fields['name']),
    description: checkedDescription(fields['description']),
    bodyOffset: found[0].length,
  };
}

function whyNone(start: Buffer): string {
  if (!opening.test(start.subarray(0, 64).toString('latin1'))) {
    return 'SKILL.md does not begin with front matter between two lines of ---';
  }
  return start.length > maxFrontMatterBytes
    ? `the front matter of SKILL.md is longer than ${maxFrontMatterBytes} bytes`
    : 'the front matter of SKILL.md has no closing line of ---';
}

/** Throws `SkillProblem`. */
export function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new SkillProblem('SKILL.md is not UTF-8 text');
  }
}

function parse(text: string, parseYaml: (text: string) => unknown): Fields {
  const fields = parsed(text, parseYaml);
  if (isFields(fields)) return { ...fields };
  throw new SkillProblem('the front matter of SKILL.md has no name and no description');
}

function parsed(text: string, parseYaml: (text: string) => unknown): unknown {
  try {
    return parseYaml(text);
  } catch (error) {
    const reason = takeCharacters(error instanceof Error ? error.message : String(error), 200, 'start');
    // The usual cause: a plain text may not contain a colon before a space.
    throw new SkillProblem(`the front matter of SKILL.md is not YAML (${reason}); put texts with a colon into quotes`);
  }
}

function checkedName(value: unknown): string {
  const name = typeof value === 'number' ? String(value) : value;
  if (typeof name !== 'string' || name.trim() === '') throw new SkillProblem('its front matter has no name');
  const shown = name.trim();
  if (Array.from(shown).length > maxNameCharacters) {
    throw new SkillProblem(`its name is longer than ${maxNameCharacters} characters`);
  }
  if (/\p{Cc}/u.test(shown)) throw new SkillProblem('its name has control characters');
  return shown;
}

/** A longer description is cut, because a model can still use it. */
function checkedDescription(value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '') throw new SkillProblem('its front matter has no description');
  const text = value.trim();
  const shown = takeCharacters(text, maxDescriptionCharacters, 'start');
  return shown.length === text.length ? text : `${shown}…`;
}
