/** The adapter for the Agent Development Kit, with an agent whose model is scripted. */
import { beforeAll } from 'bun:test';
import { expect, test } from '../harness/sandbox.ts';
import { agentIn, behaviour, besideAgents, keepFindings, workIn } from './agents.ts';
import { needFramework } from './environment.ts';

beforeAll(() => void needFramework('adk'));

test(
  'FRAME-ADK an agent runs a command, edits a file and reads it back, and its errors are those of the kit',
  async ({ sandbox }) => {
    const work = workIn(sandbox);
    const found = await agentIn('adk', 'adk_agent.py', sandbox);
    expect(found).toEqual({
      results: [
        { status: 'error', stdout: `${work}\nw\n`, exit_code: 4 },
        { status: 'ok', message: `Edited ${work}/greeting` },
        { status: 'ok', content: '     1\tgoodbye\n' },
        { status: 'error', error: `File not found: ${work}/greeting.absent` },
        { status: 'error', error: `[Errno 21] Is a directory: '${work}'` },
      ],
      answer: 'done',
      ...behaviour,
      working_dir: `${work}/made/here`,
      made: `${work}/made/here\n`,
      text: 'ünï',
    });
    keepFindings('adk', found, {
      framework: 'Agent Development Kit',
      packages: ['google-adk'],
      suite: 'an agent with a scripted model',
    });
  },
  besideAgents,
);
