/** The adapter for the OpenAI Agents SDK, with an agent whose model is scripted. */
import { beforeAll } from 'bun:test';
import { expect, test } from '../harness/sandbox.ts';
import { agentIn, behaviour, besideAgents, keepFindings, workIn } from './agents.ts';
import { needFramework } from './environment.ts';

beforeAll(() => void needFramework('openai-agents'));

test(
  'FRAME-OPENAI-AGENTS an agent runs a command, edits a file and reads it back, and its errors are those of the SDK',
  async ({ sandbox }) => {
    const work = workIn(sandbox);
    const found = await agentIn('openai-agents', 'openai_agents_agent.py', sandbox);
    expect(found).toEqual({
      'bad key': 'WorkspaceStartError',
      results: [`${work}/agent\ngiven\nw\n`, 'Updated greeting', 'goodbye\n', 'apply_patch missing file: absent'],
      codes: ['Process exited with code 4', 'Process exited with code 0'],
      answer: 'done',
      ...behaviour,
      'read absent': 'WorkspaceReadNotFoundError',
      'read directory': 'WorkspaceArchiveReadError',
      'read refused': ['WorkspaceArchiveReadError', 'ExecNonZeroError', 'InvalidManifestPathError'],
      'write directory': 'WorkspaceArchiveWriteError',
      'write refused': 'WorkspaceArchiveWriteError',
      running: true,
      user: 'root\n',
      escape: 'InvalidManifestPathError',
      'link out': 'InvalidManifestPathError',
      bounded: 'ff00',
      port: [new URL(sandbox.url).hostname, 8000, 'ExposedPortUnavailableError'],
      terminal: [true, 0],
      plain: ['plain\n', 5, null],
      terminated: 'gone\n',
      'pty absent': 'PtySessionNotFoundError',
      members: ['kept', 'kept/b', 'link'],
      resumed: 'b\n',
      restored: `${work}/restored\nb\n751\n`,
      unsafe: 'WorkspaceArchiveWriteError',
      'key in state': false,
    });
    keepFindings('openai-agents', found, {
      framework: 'OpenAI Agents SDK',
      packages: ['openai-agents'],
      suite: 'an agent with a scripted model',
    });
  },
  besideAgents,
);
