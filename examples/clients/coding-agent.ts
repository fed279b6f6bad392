/** A coding agent: it tests a project in the sandbox, edits it, and tests again: bun coding-agent.ts <address> <project>. */
import { Sandbox } from 'boxkeep';

const [address = '', project = ''] = process.argv.slice(2);
const { commands, files } = (await Sandbox.connect(address, process.env['SVC_API_KEY'])).orThrow;
const root = 'project';
const maxTurns = 20;

/** What the model may call. The texts that these return are what the model reads. */
const tools = {
  async run({ command = '' }) {
    const started = await commands.start({ command, cwd: root, hard_timeout: 300 });
    let output = '';
    for await (const event of started) {
      if (event.type === 'exit') return `${output.slice(-10_000)}[exit code ${event.exitCode}]`;
      if (event.type !== 'gap') output += event.text;
    }
    return output;
  },
  async grep({ path = '', pattern = '' }) {
    const { matches } = (await files.grep(`${root}/${path}`, pattern)).data;
    return matches.map(({ file, line_number, line_content }) => `${file}:${line_number}: ${line_content}`).join('\n');
  },
  async edit({ path = '', old_str = '', new_str = '' }) {
    return (await files.edit(path, { old_str, new_str })).data.diff ?? '';
  },
};

interface Call {
  readonly tool: keyof typeof tools;
  readonly input: Record<string, string>;
}

/** Stands for your model: it gets what the last call returned, and names the next one. Null ends the task. */
function model(turn: number, seen: string): Call | null {
  if (seen.includes('[exit code 0]')) return null;
  if (turn === 1) return { tool: 'grep', input: { path: 'src', pattern: String.raw`\.sort\(` } };
  const path = /^(.*?):\d+: /.exec(seen)?.[1];
  if (path === undefined) return { tool: 'run', input: { command: 'npm run build --silent && npm test' } };
  return { tool: 'edit', input: { path, old_str: 'a < b ? 1 : -1', new_str: 'a < b ? -1 : 1' } };
}

await files.uploadDirectory(project, root);
let seen = '';
for (let turn = 0; turn < maxTurns; turn += 1) {
  const call = model(turn, seen);
  if (call === null) break;
  console.log(`> ${call.tool} ${JSON.stringify(call.input)}`);
  seen = await tools[call.tool](call.input);
  console.log(seen.trimEnd().split('\n').slice(-2).join('\n'));
}
await files.downloadDirectory(root, project);
