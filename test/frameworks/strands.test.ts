/** The adapter for Strands Agents, with an agent whose model is scripted. */
import { beforeAll } from 'bun:test';
import { expect, test } from '../harness/sandbox.ts';
import { agentIn, behaviour, besideAgents, keepFindings, workIn } from './agents.ts';
import { needFramework } from './environment.ts';

beforeAll(() => void needFramework('strands'));

test(
  'FRAME-STRANDS an agent runs a command, edits a file and reads it back, and its errors are those of Strands',
  async ({ sandbox }) => {
    const work = workIn(sandbox);
    const found = await agentIn('strands', 'strands_agent.py', sandbox);
    expect(found).toEqual({
      results: [
        ['success', `{"output": "${work}\\n", "error": "", "exit_code": 4}`],
        ['success', expect.stringContaining('     1  goodbye\n')],
        ['success', expect.stringContaining('     1  goodbye\n')],
        ['error', expect.stringContaining(`The path ${work}/greeting.absent does not exist.`)],
        ['success', expect.stringContaining('closed\ngreeting\nsecret')],
      ],
      answer: 'done',
      ...behaviour,
      code: [0, 'w\n'],
      language: 'ValueError',
      files: [['a\nb', false]],
      'list absent': 'SandboxPathNotFoundError',
      'remove absent': 'FileNotFoundError',
      'remove directory': 'IsADirectoryError',
    });
    keepFindings('strands', found, {
      framework: 'Strands Agents',
      packages: ['strands-agents'],
      suite: 'an agent with a scripted model',
    });
  },
  besideAgents,
);
