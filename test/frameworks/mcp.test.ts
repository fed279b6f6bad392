/** The lines of docs/guide/mcp.md for frameworks, with their clients of MCP and scripted models. */
import { join } from 'node:path';
import { beforeAll } from 'bun:test';
import { expect, repositoryRoot, test } from '../harness/sandbox.ts';
import { besideAgents, workIn } from './agents.ts';
import { keepResult, needFramework, runProgram } from './environment.ts';

const guide = join(repositoryRoot, 'docs/guide/mcp.md');
const frameworks = ['OpenAI Agents SDK', 'LangChain', 'Pydantic AI'];

beforeAll(() => void needFramework('mcp'));

test(
  'FRAME-MCP the lines of the guide give an agent the tools, and the model reads their results and errors',
  async ({ sandbox }) => {
    const args = [workIn(sandbox), guide];
    const { code, stdout, stderr } = await runProgram('mcp', 'agents/mcp_guide.py', { sandbox, args });
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    const found = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>;
    const expected = frameworks.map((framework, index) => {
      const path = `${workIn(sandbox)}/greeting-${index}`;
      const results = [
        expect.stringMatching(/^hello\n\[.* · exit 4 · cwd .*\]$/),
        `     1\tgoodbye\n[${path} · edited]`,
        `goodbye\n[${path} · lines 1-1 of 1 · 8 bytes]`,
        expect.stringContaining(`${path}.absent: No such file or directory`),
      ];
      return [framework, { results, answer: 'done' }];
    });
    expect(found).toEqual(Object.fromEntries(expected));
    keepResult('mcp', {
      framework: 'OpenAI Agents SDK, LangChain, Pydantic AI',
      packages: ['openai-agents', 'langchain-mcp-adapters', 'pydantic-ai-slim'],
      suite: '[the lines for MCP](mcp.md#in-your-agent) with a scripted model',
      passed: frameworks.length,
    });
  },
  { ...besideAgents, args: [...(besideAgents.args ?? []), '--mcp-answers', 'text'] },
);
