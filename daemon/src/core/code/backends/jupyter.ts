/** Runs cells in kernels of a remote Jupyter server (SVC_JUPYTER_ENDPOINT). */
import { CoreError } from '../../../kit/errors.ts';
import { Deadline } from '../../../kit/deadline.ts';
import type { CodeBackend } from './backend.ts';
import type { Interpreter } from './interpreter.ts';
import { JupyterInterpreter, type JupyterInterpreterDeps } from './jupyter-interpreter.ts';
import { beginning } from '../cells/python-preparation.ts';
import type { RunningCell, SessionRecord } from '../sessions/record.ts';

const startWithinMs = 60_000;
/** Maximum time that a restarting daemon waits for the server before it serves requests. */
const findWithinMs = 1000;

export class JupyterBackend implements CodeBackend {
  readonly name = 'jupyter';
  readonly language = 'python';

  constructor(private readonly deps: Omit<JupyterInterpreterDeps, 'language'>) {}

  /** One sentence about what is missing; null when the server is usable. */
  async missing(user: string | null): Promise<string | null> {
    const { server } = this.deps;
    if (user !== null)
      return `the kernels of the Jupyter server at ${server.address} run as its account, not as ${user}`;
    const { problem, kernels } = await server.look();
    if (problem !== null || kernels[0]?.language === 'python') return problem;
    return `the Jupyter server at ${server.address} has no kernel of Python`;
  }

  async kernels(user: string | null): Promise<readonly string[]> {
    return user === null ? (await this.deps.server.look()).kernels.map(({ name }) => name) : [];
  }

  async start(
    { kernel, cwd, env }: SessionRecord,
    onStarted: (id: string) => void = () => undefined,
  ): Promise<Interpreter> {
    const { kernels } = await this.deps.server.look();
    const id = await this.#ask(() => this.deps.server.start(kernel ?? kernels[0]?.name ?? null));
    onStarted(id);
    const language = await this.#languageOf(kernel);
    const interpreter = new JupyterInterpreter(id, { ...this.deps, language });
    using deadline = new Deadline(startWithinMs);
    // The kernel answers only when the connection is complete. Earlier messages of the kernel are lost.
    const isPython = language === 'python';
    const reply = await interpreter.ask(isPython ? beginning(cwd, env) : '', deadline.signal);
    if (reply !== null) return interpreter;
    await interpreter.close();
    throw this.#unavailable('its kernel does not answer');
  }

  adopt(): Promise<Interpreter | null> {
    throw new Error('a kernel of a server is not a process of this machine');
  }

  /** Resumes a kernel that an earlier daemon started; null when the kernel is gone. */
  async reconnect(id: string, { kernel }: SessionRecord, running: RunningCell | null): Promise<Interpreter | null> {
    const deps = { ...this.deps, language: await this.#languageOf(kernel) };
    const interpreter = new JupyterInterpreter(id, deps, running?.cell ?? null);
    using deadline = new Deadline(findWithinMs);
    await interpreter.opened(deadline.signal);
    return interpreter.end ? null : interpreter;
  }

  /** An unnamed kernel is a Python kernel. */
  async #languageOf(kernel: string | null): Promise<string> {
    if (kernel === null) return this.language;
    const { kernels } = await this.deps.server.look();
    return kernels.find(({ name }) => name === kernel)?.language ?? '';
  }

  async #ask<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw this.#unavailable(error instanceof Error ? error.message : String(error));
    }
  }

  #unavailable(reason: string): CoreError {
    return new CoreError('unavailable', `the Jupyter server at ${this.deps.server.address}: ${reason}`, {
      hint: 'Check SVC_JUPYTER_ENDPOINT and its token, or unset SVC_JUPYTER_ENDPOINT.',
    });
  }
}
