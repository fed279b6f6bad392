/** The v1 routes that describe the sandbox: its summary, and the packages of each language. */
import { z } from 'zod';
import { Answer } from '../../kit/answer.ts';
import { route } from './app.ts';
import { SandboxTop, sandboxSummary, sandboxTop } from './sandbox-views.ts';

export const getSandbox = route({
  operation: 'operations.sandbox_v1',
  method: 'GET',
  path: '/v1/sandbox',
  summary: 'Describe the sandbox, as text and as fields',
  data: z.string(),
  top: SandboxTop,
  async handle({ sandbox, toolchains }) {
    const top = sandboxTop(sandbox.describe(), await toolchains.look());
    return new Answer(sandboxSummary(top), { top });
  },
});

const PackageList = z.array(z.object({ name: z.string(), version: z.string() }));

export const listPythonPackages = route({
  operation: 'operations.packages_python_v1',
  method: 'GET',
  path: '/v1/sandbox/packages/python',
  summary: 'List the Python packages of the default account',
  data: PackageList,
  errors: ['unavailable', 'capacity_reached'],
  handle: ({ packages }) => packages.list('python'),
});

export const listNodePackages = route({
  operation: 'operations.packages_nodejs_v1',
  method: 'GET',
  path: '/v1/sandbox/packages/nodejs',
  summary: 'List the global Node.js packages of the default account',
  data: PackageList,
  errors: ['unavailable', 'capacity_reached'],
  handle: ({ packages }) => packages.list('nodejs'),
});
