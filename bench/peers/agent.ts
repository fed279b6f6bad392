/** Agents with one scripted model, in Python: deepagents and MCP on boxkeep, and deepagents with E2B's SDK on envd. */
import { join } from 'node:path';
import { virtualEnvironment } from '../install.ts';
import { LineProgram } from './line-program.ts';

const client = join(import.meta.dirname, '../../clients/python/src');

const ours = ['deepagents==0.7.32', 'langchain-mcp-adapters==0.3.2', 'httpx2==2.16.2', 'websockets==17.4'];
/** The newest deepagents and SDK that this release accepts. */
const theirs = ['langchain-e2b==0.0.6', 'deepagents==0.6.12', 'e2b==2.63.0'];
/** A program of their packages. */
const program = 'jsonpatch';

/** Each agent with its name in the table, and with the packages that it needs. */
const agents = {
  deepagents: { name: 'boxkeep', packages: ours },
  mcp: { name: 'through MCP', packages: ours },
  e2b: { name: 'langchain-e2b on envd', packages: theirs },
} as const;

export interface Agent extends AsyncDisposable {
  readonly name: string;
  /** Fifty calls of tools. */
  loop(): Promise<Loop>;
}

interface Loop {
  readonly ms: number;
  /** What the model is sent in all its turns. */
  readonly sentBytes: number;
  readonly resultBytes: number;
}

/** The server at `url` reaches the directory, in which the agent works. */
export function openAgent(kind: keyof typeof agents, url: string, directory: string): Agent {
  const { name, packages } = agents[kind];
  const place = virtualEnvironment({ name: packages.join('+'), packages, program });
  const command = [join(place, 'bin/python'), '-B', join(import.meta.dirname, 'agent.py'), kind, url, directory];
  const python = new LineProgram(command, { PYTHONPATH: client, E2B_SANDBOX_URL: url });
  return {
    name,
    async loop() {
      const [ms, sentBytes, resultBytes] = (await python.ask(null)) as [number, number, number];
      return { ms, sentBytes, resultBytes };
    },
    [Symbol.asyncDispose]: () => python[Symbol.asyncDispose](),
  };
}
