/** `sandbox_get_packages`: lists the installed packages of Python or Node.js. */
import { z } from 'zod';
import { packageLanguages, packagesNamed } from '../../../core/ops/packages.ts';
import { readsOnly, tool } from '../app.ts';
import { cutText, footer } from '../text.ts';

const aliases = { python: 'python', py: 'python', nodejs: 'nodejs', node: 'nodejs' } as const;

export const getPackages = tool({
  name: 'sandbox_get_packages',
  title: 'List installed packages',
  description: 'List the installed Python or Node.js packages as name==version.',
  annotations: readsOnly,
  input: z.object({
    language: z.enum(['python', 'py', 'nodejs', 'node']).default('python'),
    name: z.string().optional().describe('Only names that contain this.'),
  }),
  output: z.object({
    language: z.enum(packageLanguages),
    packages: z.array(z.object({ name: z.string(), version: z.string() })),
  }),
  async run({ packages }, input, call) {
    const language = aliases[input.language];
    const list = packagesNamed(await packages.list(language), input.name ?? null);
    const lines = list.map(({ name, version }) => `${name}==${version}\n`).join('');
    const { text } = await cutText(lines, call.outputs);
    return {
      text: `${text}${footer(`${list.length} ${language} packages`)}`,
      data: { language, packages: list.map((one) => ({ ...one })) },
    };
  },
});
