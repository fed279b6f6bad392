/** The v2 routes of operations. */
import { z } from 'zod';
import { packageLanguages, packagesNamed } from '../../core/ops/packages.ts';
import { Answer } from '../../kit/answer.ts';
import { route } from './app.ts';
import { SandboxInfo, sandboxInfo } from './sandbox-view.ts';

export const describeSurface = route({
  operation: 'operations.openapi_v2',
  method: 'GET',
  path: '/v2/openapi.json',
  summary: 'Describe the v2 surface as OpenAPI 3.1',
  raw: { contentType: 'application/json', description: 'The document' },
  handle: async ({ openApi }) => Response.json(await openApi()),
});

export const getSandbox = route({
  operation: 'operations.sandbox',
  method: 'GET',
  path: '/v2/sandbox',
  summary: 'Describe the sandbox: account, workspace, limits and capabilities',
  data: SandboxInfo,
  handle: async ({ sandbox, capabilities }) => sandboxInfo(sandbox.describe(), await capabilities.report()),
});

const PackageList = z.array(z.object({ name: z.string(), version: z.string() })).describe('With format=json.');

export const listPackages = route({
  operation: 'operations.packages',
  method: 'GET',
  path: '/v2/sandbox/packages',
  summary: 'List the packages of a language that the default account has',
  query: z.object({
    lang: z.enum([...packageLanguages, 'node']).describe('node is nodejs.'),
    name: z.string().optional().describe('Only packages whose name contains this part, upper and lower case alike.'),
    format: z.enum(['text', 'json']).default('text').describe('text is name==version, one a line.'),
  }),
  data: z.union([z.string(), PackageList]),
  errors: ['unavailable', 'capacity_reached'],
  async handle({ packages }, { query }) {
    const all = await packages.list(query.lang === 'python' ? 'python' : 'nodejs');
    const list = packagesNamed(all, query.name ?? null);
    const text = list.map(({ name, version }) => `${name}==${version}`).join('\n');
    return new Answer(query.format === 'json' ? list : text, { message: `${list.length} packages` });
  },
});
