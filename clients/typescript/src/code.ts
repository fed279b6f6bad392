/** Code of a sandbox: single runs, and sessions that keep their state. */
import { Handle, Plane, succeeded, type Result } from './result.ts';
import type { Answer, Body, CallOptions, Transport } from './transport.ts';

type RunMore = Partial<Omit<Body<'code.execute'>, 'language' | 'code' | 'stream' | 'session_id'>>;
type Language = Body<'code.execute'>['language'];

export class Code extends Plane {
  constructor(private readonly transport: Transport) {
    super();
  }

  /** Runs code in an interpreter of its own, which ends as a program ends. */
  async run(
    language: Language,
    code: string,
    more: RunMore = {},
    options: CallOptions = {},
  ): Promise<Result<Answer<'code.execute'>>> {
    return await this.transport.call('code.execute', { body: { language, code, ...more } }, options);
  }

  /** Makes a session. With an `id`, the session of that name when there is one. */
  async session(more: Body<'code.create_session'> = {}, options: CallOptions = {}): Promise<Result<CodeSession>> {
    const made = await this.transport.call('code.create_session', { body: more }, options);
    if (made.ok) {
      const { session_id: id, language } = made.body.data;
      return succeeded(new CodeSession(this.transport, id, language));
    }
    const isThere = made.error.code === 'session_exists' && more.id !== undefined;
    return isThere ? await this.connect(more.id, options) : made;
  }

  /** A session that was made before, by any client. */
  async connect(id: string, options: CallOptions = {}): Promise<Result<CodeSession>> {
    const found = await this.transport.call('code.get_session', { path: { id } }, options);
    return found.ok ? succeeded(new CodeSession(this.transport, id, found.body.data.language)) : found;
  }

  async list(options: CallOptions = {}): Promise<Result<Answer<'code.list_sessions'>>> {
    return await this.transport.call('code.list_sessions', {}, options);
  }
}

/** An interpreter that keeps its variables from one cell to the next. */
export class CodeSession extends Handle {
  constructor(
    private readonly transport: Transport,
    readonly id: string,
    readonly language: Language,
  ) {
    super();
  }

  async run(code: string, more: RunMore = {}, options: CallOptions = {}): Promise<Result<Answer<'code.execute'>>> {
    const body = { language: this.language, code, session_id: this.id, ...more };
    return await this.transport.call('code.execute', { body }, options);
  }

  /** Interrupts the cell that runs. */
  async interrupt(options: CallOptions = {}): Promise<Result<Answer<'code.interrupt'>>> {
    return await this.transport.call('code.interrupt', { path: { id: this.id } }, options);
  }

  /** The variables are lost. */
  async restart(options: CallOptions = {}): Promise<Result<Answer<'code.restart'>>> {
    return await this.transport.call('code.restart', { path: { id: this.id } }, options);
  }

  async close(options: CallOptions = {}): Promise<Result<Answer<'code.delete_session'>>> {
    return await this.transport.call('code.delete_session', { path: { id: this.id } }, options);
  }
}
