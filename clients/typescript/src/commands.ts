/** Commands of a sandbox: run to the end, or started and followed live. */
import { newId } from './ids.ts';
import { base64Of, bytesOf, type Bytes } from './lines.ts';
import { followOutput, type Ending, type FollowOptions, type Offsets, type OutputEvent } from './output.ts';
import { Handle, Plane, resultOf, succeeded, type Result } from './result.ts';
import type { Answer, CallOptions, Input, Transport } from './transport.ts';
import type { Command, CommandKillRequest, CommandOutput, CommandRunRequest } from './wire.ts';

/** A script for the shell, or the whole request. */
export type CommandInput = string | Omit<CommandRunRequest, 'mode'>;
type SignalName = NonNullable<CommandKillRequest['signal']>;

/** An offset behind every output; the daemon takes it for the end. */
const end = Number.MAX_SAFE_INTEGER;

export class Commands extends Plane {
  constructor(private readonly transport: Transport) {
    super();
  }

  /** Runs a command to its end, or up to its `timeout`. A repeat of the request starts nothing twice. */
  async run(command: CommandInput, options: CallOptions = {}): Promise<Result<Answer<'commands.run'>>> {
    return await this.#send({ ...requestOf(command), mode: 'sync' }, options);
  }

  /** Starts a command, and returns while it runs. */
  async start(command: CommandInput, options: CallOptions = {}): Promise<Result<CommandHandle>> {
    const started = await this.#send({ ...requestOf(command), mode: 'async' }, options);
    if (!started.ok) return started;
    const { data } = started.body;
    return succeeded(new CommandHandle(this.transport, data, data));
  }

  /** A command that was started before, by any client. Its output comes from `offsets` on. */
  async connect(id: string, offsets: Partial<Offsets> = {}, options: CallOptions = {}): Promise<Result<CommandHandle>> {
    const input = { path: { command_id: id }, query: { offset: end, stderr_offset: end } };
    const read = await this.transport.call('commands.read', input, options);
    if (!read.ok) return read;
    const { data } = read.body;
    return succeeded(new CommandHandle(this.transport, data.command, data, offsets));
  }

  async list(
    query: NonNullable<Input<'commands.list'>['query']> = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'commands.list'>>> {
    return await this.transport.call('commands.list', { query }, options);
  }

  /** Without a signal, the command and its children get SIGTERM, and SIGKILL after a grace period. */
  async kill(id: string, signal?: SignalName, options: CallOptions = {}): Promise<Result<Answer<'commands.kill'>>> {
    const body = signal === undefined ? {} : { signal };
    return await this.transport.call('commands.kill', { path: { command_id: id }, body }, options);
  }

  async #send(body: CommandRunRequest, options: CallOptions): Promise<Result<Answer<'commands.run'>>> {
    return await this.transport.call('commands.run', { body }, { ...options, isRepeatable: true });
  }
}

/** A command of a sandbox. Its output can be read again and again, each time from the beginning. */
export class CommandHandle extends Handle {
  readonly id: string;
  /** Where both streams ended when the handle was made. */
  readonly ends: Offsets;
  #written = 0;

  constructor(
    private readonly transport: Transport,
    /** The record as it was when the handle was made; its `error` says why the command could not start. */
    readonly record: Command,
    { offset, stderr_offset }: Pick<CommandOutput, 'offset' | 'stderr_offset'>,
    private readonly from: Partial<Offsets> = {},
  ) {
    super();
    this.id = record.command_id;
    this.ends = { stdout: offset, stderr: stderr_offset };
  }

  [Symbol.asyncIterator](): AsyncGenerator<OutputEvent> {
    return this.events();
  }

  /** What both streams hold and get, and the end. Goes on by itself when the connection or the daemon was lost. */
  events(options: FollowOptions = {}): AsyncGenerator<OutputEvent> {
    return followOutput(this.transport, this.id, { from: this.from, ...options });
  }

  /** The end of the command. Its output is not kept here. */
  async wait(options: CallOptions = {}): Promise<Result<Ending>> {
    return await resultOf(async () => {
      // The daemon sends nothing of what comes before these offsets.
      const from = { stdout: end, stderr: end };
      for await (const event of this.events({ ...options, from })) if (event.type === 'exit') return event;
      throw new Error('output ends with an exit');
    });
  }

  /** Writes to the standard input. A command that does not read makes this wait. */
  async write(input: string | Bytes, options: CallOptions = {}): Promise<Result<void>> {
    return await resultOf(async () => {
      let rest = bytesOf(input);
      while (rest.length > 0) rest = rest.subarray(await this.#send({ input_base64: base64Of(rest) }, options));
    });
  }

  async closeStdin(options: CallOptions = {}): Promise<Result<void>> {
    return await resultOf(async () => {
      await this.#send({ eof: true }, options);
    });
  }

  async kill(signal?: SignalName, options: CallOptions = {}): Promise<Result<Answer<'commands.kill'>>> {
    return await new Commands(this.transport).kill(this.id, signal, options);
  }

  /** Returns how many bytes the command has taken. The offset lets the daemon take a repeated request once. */
  async #send(body: Input<'commands.write_stdin'>['body'], options: CallOptions): Promise<number> {
    const input = { path: { command_id: this.id }, body: { ...body, offset: this.#written } };
    const sent = await this.transport.call('commands.write_stdin', input, { ...options, isRepeatable: true });
    if (!sent.ok) throw sent.error;
    this.#written += sent.body.data.accepted_bytes;
    return sent.body.data.accepted_bytes;
  }
}

function requestOf(command: CommandInput): CommandRunRequest {
  const request = typeof command === 'string' ? { command } : command;
  return { command_id: newId('cmd'), ...request };
}
