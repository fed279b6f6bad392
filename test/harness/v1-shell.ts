/** Sends the shell requests of a 1.x client, and configures a daemon whose shells start fast. */
import { join } from 'node:path';
import { hasProgram } from './root.ts';
import type { EnvelopeBody, JsonObject, Reply, Sandbox, SandboxOptions } from './sandbox.ts';
import { withShellAccounts, type ShellName } from './shell-accounts.ts';

/** 1.x cannot set a shell's environment, so a separate account provides a home without start-up files. */
export function withPlainShell(options: SandboxOptions = {}, name?: ShellName): SandboxOptions {
  const shell = name ?? (hasProgram('bash') ? 'bash' : 'ash');
  return withShellAccounts({ ...options, args: ['--default-user', `sbx-${shell}`, ...(options.args ?? [])] });
}

/** The initial directory of its shells: the home of the default account. */
export function homeOf(sandbox: Sandbox): string {
  const account = /sbx-(\w+)/.exec(sandbox.options.args?.join(' ') ?? '');
  return join(sandbox.directory, account?.[1] ?? '');
}

export class ShellRoutes {
  constructor(readonly sandbox: Sandbox) {}

  /** The whole answer of a verb, such as `exec` or `sessions/create`. */
  answer(verb: string, body: object = {}): Promise<Reply<EnvelopeBody>> {
    return this.sandbox.request(`POST /v1/shell/${verb}`, body);
  }

  /** The `data` of an answer. Throws unless the answer is a success. */
  ask(verb: string, body: object = {}): Promise<JsonObject> {
    return this.sandbox.ok(`POST /v1/shell/${verb}`, body);
  }

  exec(command: string, more: object = {}): Promise<JsonObject> {
    return this.ask('exec', { command, ...more });
  }

  async output(id: string, command: string): Promise<string> {
    return (await this.exec(command, { id }))['output'] as string;
  }

  async list(): Promise<JsonObject> {
    return (await this.sandbox.ok('GET /v1/shell/sessions'))['sessions'] as JsonObject;
  }
}
