/** `sandbox_get_context`: describes the sandbox, so that an agent knows where its calls run. */
import { z } from 'zod';
import { SandboxInfo, sandboxInfo } from '../../v2/sandbox-view.ts';
import { readsOnly, tool } from '../app.ts';

const Standing = z.object({ status: z.string(), missing: z.array(z.string()), warnings: z.array(z.string()) });

const Output = SandboxInfo.pick({
  version: true,
  hostname: true,
  os: true,
  arch: true,
  user: true,
  home_dir: true,
  workspace_dir: true,
  ports: true,
}).extend({
  capabilities: z.record(z.string(), Standing).describe('By domain.'),
  left_out: z.array(z.string()).describe('What other servers offer and the list of tools lacks, and why.'),
});

export const getContext = tool({
  name: 'sandbox_get_context',
  title: 'Describe the sandbox',
  description: 'Describe the sandbox: system, account, directories, listening ports, and what works in this image.',
  annotations: readsOnly,
  output: Output,
  async run({ capabilities, sandbox, upstreams }) {
    const { capabilities: domains, ...info } = sandboxInfo(sandbox.describe(), await capabilities.report());
    const { version, hostname, os, arch, user, home_dir, workspace_dir, ports } = info;
    const standings = Object.entries(domains).map(
      ([name, { status, missing, warnings }]): [string, z.input<typeof Standing>] => {
        return [name, { status, missing: [...missing], warnings: [...warnings] }];
      },
    );
    const lines = standings.map(([name, { status, missing, warnings }]) => {
      const reasons = status === 'ready' ? [] : [...missing, ...warnings];
      return `${name} ${status}${reasons.length === 0 ? '' : `: ${reasons.join('; ')}`}`;
    });
    const leftOut = (await upstreams?.losses()) ?? [];
    return {
      text: [
        `${os} (${arch}), host ${hostname}, boxkeep ${version}`,
        `account ${user}, home ${home_dir}, workspace ${workspace_dir}`,
        `listening ports: ${ports.length === 0 ? 'none' : ports.join(', ')}`,
        ...lines,
        ...leftOut,
      ].join('\n'),
      data: {
        ...{ version, hostname, os, arch, user, home_dir, workspace_dir, ports },
        capabilities: Object.fromEntries(standings),
        left_out: [...leftOut],
      },
    };
  },
});
