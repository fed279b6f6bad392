/** `sandbox_load_skill`: lists the skills of the image, or loads one. */
import { z } from 'zod';
import type { LoadedSkill, SkillList } from '../../../core/mcp/skills/skills.ts';
import { showPath } from '../../../kit/text/path-text.ts';
import { readsOnly, tool, type ToolResult } from '../app.ts';
import { asLines, footer } from '../text.ts';

const Summary = z.object({ name: z.string(), description: z.string() });

const Output = z.object({
  skills: z.array(Summary).describe('The skills there are, or the one that was loaded.'),
  invalid: z.array(z.object({ folder: z.string(), reason: z.string() })).describe('Folders that cannot be loaded.'),
  content: z.string().nullable().describe('The instructions.'),
  directory: z.string().nullable(),
  files: z.array(z.string()).describe('Paths below the directory.'),
  truncated: z.boolean(),
});
type Result = ToolResult<z.input<typeof Output>>;

export const loadSkill = tool({
  name: 'sandbox_load_skill',
  title: 'Load a skill',
  description: 'Load the instructions of a skill and the list of its files. Without a name: list the skills.',
  annotations: readsOnly,
  input: z.object({ name: z.string().min(1).optional().describe('As the list has it.') }),
  output: Output,
  run: async ({ skills }, { name }, { signal }) =>
    name === undefined ? listed(await skills.list(signal)) : loaded(await skills.load(name, signal)),
});

function listed({ skills, invalid, isCut }: SkillList): Result {
  const lines = [
    ...skills.map(({ name, description }) => `${name}: ${description}`),
    ...invalid.map(({ folder, reason }) => `${folder} cannot be loaded: ${reason}`),
    ...(isCut ? ['There are more folders than this list holds.'] : []),
  ];
  return {
    text: lines.length === 0 ? 'No skill is installed.' : lines.join('\n'),
    data: {
      skills: skills.map(({ name, description }) => ({ name, description })),
      invalid: invalid.map(({ folder, reason }) => ({ folder, reason })),
      ...{ content: null, directory: null, files: [], truncated: isCut },
    },
  };
}

function loaded({
  name,
  description,
  directory: path,
  body,
  bodyPath,
  isBodyCut,
  files,
  areFilesCut,
}: LoadedSkill): Result {
  const directory = showPath(path);
  const names = files.map((file) => showPath(file));
  const rest = isBodyCut ? `the instructions go on in ${showPath(bodyPath)}` : null;
  const list = names.length === 0 ? null : `files: ${names.join(', ')}${areFilesCut ? ', and more' : ''}`;
  return {
    text: `${asLines(body)}${footer(directory, list, rest)}`,
    data: {
      skills: [{ name, description }],
      invalid: [],
      ...{ content: body, directory, files: names, truncated: isBodyCut || areFilesCut },
    },
  };
}
