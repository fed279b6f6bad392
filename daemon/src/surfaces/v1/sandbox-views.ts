/** The wire shapes of the 1.x sandbox routes, and the summary as text. */
import { z } from 'zod';
import type { SandboxRecord } from '../../core/ops/sandbox.ts';
import type { Interpreter, Toolchain } from '../../core/ops/toolchain.ts';
import { namedObject } from '../../operations/inputs.ts';

const ToolSpec = z.object({
  ver: z.string().nullable(),
  bin: z.string().nullable(),
  alias: z.array(z.string()),
});

const SandboxDetail = namedObject('SandboxDetail', {
  system: z.object({
    os: z.string(),
    os_version: z.string(),
    arch: z.string(),
    user: z.string(),
    home_dir: z.string(),
    workspace: z.string(),
    timezone: z.string(),
    occupied_ports: z.array(z.string()),
  }),
  runtime: z.object({ python: z.array(ToolSpec), nodejs: z.array(ToolSpec) }),
  utils: z.array(
    z.object({
      category: z.string(),
      tools: z.array(z.object({ name: z.string(), description: z.string() })),
    }),
  ),
});

/** The fields beside the envelope's own keys. */
export const SandboxTop = z.object({
  home_dir: z.string(),
  workspace: z.string(),
  version: z.string(),
  detail: SandboxDetail,
});

export function sandboxTop(record: SandboxRecord, toolchain: Toolchain): z.input<typeof SandboxTop> {
  const { machine, account, workspaceDir, version } = record;
  return {
    home_dir: account.home,
    workspace: workspaceDir,
    version,
    detail: {
      system: {
        os: machine.system,
        os_version: machine.distribution,
        arch: machine.arch,
        user: account.name,
        home_dir: account.home,
        workspace: workspaceDir,
        timezone: machine.timezone,
        occupied_ports: machine.listeningPorts.map(String),
      },
      runtime: { python: toolchain.python.map(toolSpec), nodejs: toolchain.node.map(toolSpec) },
      utils: toolchain.tools.map(({ category, tools }) => ({
        category,
        tools: tools.map(({ name, path }) => ({ name, description: path })),
      })),
    },
  };
}

function toolSpec({ version, path, names }: Interpreter): z.input<typeof ToolSpec> {
  return { ver: version, bin: path, alias: [...names] };
}

/** The summary as text, under the headings of 1.x. */
export function sandboxSummary({ version, detail }: z.input<typeof SandboxTop>): string {
  const { system, runtime, utils } = detail;
  return [
    `System Environment (v${version}):`,
    `- OS: ${system.os_version} (${system.os}, ${system.arch})`,
    `- User: ${system.user}`,
    `- Home: ${system.home_dir}`,
    `- Workspace: ${system.workspace}`,
    `- Timezone: ${system.timezone}`,
    `- Occupied ports: ${system.occupied_ports.join(', ') || 'none'}`,
    '',
    'Development Environment:',
    `- Python: ${describeRuntimes(runtime.python)}`,
    `- Node.js: ${describeRuntimes(runtime.nodejs)}`,
    '',
    'Available Tools:',
    ...utils.map(({ category, tools }) => `- ${category}: ${tools.map(({ name }) => name).join(', ')}`),
    '',
  ].join('\n');
}

function describeRuntimes(runtimes: readonly z.input<typeof ToolSpec>[]): string {
  return runtimes.map(({ ver, bin }) => `${ver ?? 'unknown version'} (${bin ?? ''})`).join(', ') || 'not installed';
}
