/** Writes the start of a command as curl, and as a program with each client. */
import type { Command } from '../../../clients/typescript/src/index.ts';
import { curlOf } from '../forms/curl.ts';

export interface Snippet {
  /** Such as `curl`. */
  readonly name: string;
  readonly text: string;
}

/** `address`: of the daemon. The key is in a variable, so that a text that is passed on holds none. */
export function snippetsOf(address: string, { command, args, cwd, user }: Command): readonly Snippet[] {
  const request = { command, ...(args.length > 0 && { shell: 'none', args }), cwd, user };
  return [
    { name: 'curl', text: curlOf({ method: 'POST', url: `${address}/v2/commands`, body: request }) },
    { name: 'TypeScript', text: inTypeScript(address, request) },
    { name: 'Python', text: inPython(address, request) },
  ];
}

function inTypeScript(address: string, request: object): string {
  return `import { Sandbox } from 'boxkeep';

const box = await Sandbox.connect(${JSON.stringify(address)}, process.env.SVC_API_KEY);
const run = await box.orThrow.commands.run(${JSON.stringify(request, null, 2)});
console.log(run.data.exit_code, run.data.stdout);`;
}

/** The texts of JSON are texts of Python too. */
function inPython(address: string, { command, ...fields }: { readonly command: string }): string {
  const named = Object.entries(fields).map(([name, value]) => `, ${name}=${JSON.stringify(value)}`);
  return `import os
from boxkeep import Sandbox

with Sandbox.connect(${JSON.stringify(address)}, os.environ.get("SVC_API_KEY")) as box:
    run = box.commands.run(${JSON.stringify(command)}${named.join('')})
    print(run.exit_code, run.stdout, end="")`;
}
