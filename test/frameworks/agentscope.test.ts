/** The adapter for AgentScope, with an agent whose model is scripted. */
import { beforeAll } from 'bun:test';
import { expect, test } from '../harness/sandbox.ts';
import { agentIn, behaviour, besideAgents, keepFindings, workIn } from './agents.ts';
import { needFramework } from './environment.ts';

beforeAll(() => void needFramework('agentscope'));

test(
  'FRAME-AGENTSCOPE an agent runs a command, edits a file and reads it back, and its errors are those of AgentScope',
  async ({ sandbox }) => {
    const work = workIn(sandbox);
    const found = await agentIn('agentscope', 'agentscope_agent.py', sandbox);
    expect(found).toEqual({
      results: [
        ['success', `${work}\nw\n`],
        ['success', '     1\thello'],
        ['success', `Successfully replaced 1 occurrence in ${work}/greeting`],
        ['success', '     1\tgoodbye'],
        ['error', `Error: File does not exist: ${work}/greeting.absent`],
        ['success', expect.stringContaining('goodbye')],
        ['error', 'Command failed: exit 4\n'],
        ['error', 'Command timed out after 300ms: sleep 100'],
      ],
      answer: 'done',
      ...behaviour,
      'absent argv': 127,
      'cwd absent': expect.stringContaining(`cwd ${work}/absent: no such file or directory.`),
      scandir: [
        ['broken', false, null],
        ['d', true, null],
        ['link', true, null],
      ],
      list: [['five'], [`${work}/d/five`], []],
      stat: [5, null, null],
      is: [true, false, true],
      deleted: false,
      'delete refused': 'PermissionError',
      cwd: work,
    });
    keepFindings('agentscope', found, {
      framework: 'AgentScope',
      packages: ['agentscope'],
      suite: 'an agent with a scripted model',
    });
  },
  besideAgents,
);
