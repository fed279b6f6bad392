/** The v1 routes that stay available when the surface is disabled: ping, capabilities and OpenAPI. */
import { z } from 'zod';
import { capabilityStatuses } from '../../core/capabilities/report.ts';
import { snakeKeys } from '../../kit/text/snake-keys.ts';
import { Answer } from '../../kit/answer.ts';
import { route } from './app.ts';
import { namedObject } from '../../operations/inputs.ts';

export const ping = route({
  operation: 'operations.ping_v1',
  method: 'GET',
  path: '/v1/ping',
  summary: 'Confirm that the daemon answers',
  data: z.literal('pong'),
  handle: () => new Answer('pong' as const, { message: 'pong' }),
});

export const describeSurface = route({
  operation: 'operations.openapi_v1',
  method: 'GET',
  path: '/v1/openapi.json',
  summary: 'Describe the v1 surface as OpenAPI 3.1',
  raw: { contentType: 'application/json', description: 'The document' },
  handle: async ({ openApi }) => Response.json(await openApi()),
});

const path = z.string().nullable().describe('Path of the program; null when it is not on PATH.');
const standing = {
  status: z.enum(capabilityStatuses).describe('degraded works in part, absent not at all.'),
  missing: z.array(z.string()),
  warnings: z.array(z.string()),
};

const Capabilities = namedObject('Capabilities', {
  files: z.object({ ...standing, ripgrep: path }),
  exec: z.object({
    ...standing,
    shells: z.array(z.string()),
    pty: z.boolean(),
    tmux: z.boolean(),
    backend: z.enum(['native', 'tmux']).nullable().describe('Backend of terminals.'),
  }),
  code_interpreter: z.object({
    ...standing,
    backend: z.string().nullable(),
    jupyter_backend: z.string().nullable(),
    python_kernels: z.array(z.string()),
    languages: z.array(z.string()),
    python: path,
    node: path,
  }),
  browser: z.object({
    ...standing,
    process: z.boolean().nullable(),
    cdp: z.boolean().nullable(),
    version: z.string().nullable(),
  }),
  computer: z.object({
    ...standing,
    provider: z.string().nullable(),
    display: z.string().nullable(),
    resolution: z.object({ width: z.int(), height: z.int() }).nullable(),
    screenshot: z.boolean(),
    actions: z.boolean(),
    clipboard: z.boolean(),
    recording: z.boolean(),
    accessibility: z.boolean(),
    accessibility_backend: z.string().nullable(),
  }),
  mcp: z.object(standing),
});

export const getCapabilities = route({
  operation: 'operations.capabilities_v1',
  method: 'GET',
  path: '/v1/capabilities',
  summary: 'List the capabilities of the sandbox',
  query: z.object({
    refresh: z.boolean().default(false).describe('Look again, although an answer is younger than 5 seconds.'),
  }),
  data: Capabilities,
  handle: async ({ capabilities }, { query }) => snakeKeys(await capabilities.report(query.refresh)),
});
