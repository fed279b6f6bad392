/** Starts Jupyter kernels directly under the account of the session, without a Jupyter server. */
import { CoreError } from '../../../kit/errors.ts';
import { Deadline } from '../../../kit/deadline.ts';
import { mintId } from '../../../kit/ids.ts';
import type { Child } from '../../../platform/process/spawn.ts';
import type { KernelDirectories } from '../../../platform/stores/kernel-directories.ts';
import type { Account } from '../../identity/accounts.ts';
import { commandEnvironment } from '../../processes/environment.ts';
import type { CodeBackend } from './backend.ts';
import type { Bridges } from './bridges.ts';
import type { Interpreter } from './interpreter.ts';
import type { Language } from '../language.ts';
import { startRefusal } from './start-refusal.ts';
import { KernelInterpreter } from './kernel-interpreter.ts';
import { defaultKernel, type Kernels, type Kernelspec, type UsableKernel } from './kernels.ts';
import type { Connection, InterpreterNote, KernelNote } from './note.ts';
import type { RunningCell, SessionRecord } from '../sessions/record.ts';
import { startProcess, type ProcessDeps } from './start-process.ts';

export interface KernelBackendDeps extends ProcessDeps {
  readonly kernels: Kernels;
  readonly bridges: Bridges;
  readonly directories: KernelDirectories;
  readonly environment: Readonly<Record<string, string>>;
  /** Returns ports on 127.0.0.1 that are free at the moment. */
  readonly freePorts: (count: number) => Promise<readonly number[]>;
  readonly randomKey: () => string;
  readonly now: () => number;
  readonly onFault: (what: string, error: unknown) => void;
}

const startWithinMs = 60_000;
/** Limit on the output outside of cells. */
const capBytes = 1024 * 1024;
const connectionFile = 'connection.json';
/** Makes matplotlib show figures without a magic command. The environment of a session can override this. */
const inline = { MPLBACKEND: 'module://matplotlib_inline.backend_inline' };
/** Maximum number of start attempts. Another process may take a TCP port before the kernel binds it. */
const maxStarts = 3;

export class KernelBackend implements CodeBackend {
  readonly name = 'kernel';
  readonly language = 'python';
  readonly #directories = new Set<string>();

  constructor(private readonly deps: KernelBackendDeps) {}

  /** What is missing for the default kernel; null when the kernel is usable. Throws `bad_argument`. */
  async missing(user: string | null): Promise<string | null> {
    return await this.deps.kernels.missing(this.deps.accounts.resolve(user));
  }

  async names(user: string | null, language: Language): Promise<readonly string[]> {
    return await this.deps.kernels.names(this.deps.accounts.resolve(user), language);
  }

  /** The same backend for kernels of another language. */
  for(language: Language): CodeBackend {
    const { name } = this;
    return { name, language, start: (record) => this.start(record), adopt: (...all) => this.adopt(...all) };
  }

  /** The versions of the Pythons with kernels. `start` accepts these names too. */
  async versions(user: string | null): Promise<readonly string[]> {
    return await this.deps.kernels.versions(this.deps.accounts.resolve(user));
  }

  async start(record: SessionRecord): Promise<Interpreter> {
    const account = this.deps.accounts.resolve(record.user);
    const found = await this.deps.kernels.find(account, record.kernel ?? defaultKernel);
    if (typeof found === 'string')
      throw new CoreError('unavailable', found, { isRetryable: false, hint: 'Install it in the image.' });
    for (let starts = 1; ; starts++) {
      const interpreter = await this.#start(record, account, found);
      using deadline = new Deadline(startWithinMs);
      await interpreter.opened(deadline.signal);
      if (interpreter.isOpen) return interpreter;
      const { failure, processEnd: end, errors } = interpreter;
      const what = `the kernel ${found.spec.name} (${found.spec.argv[0]})`;
      const refusal = startRefusal({ what, failure, end, errors: errors() });
      this.#discard(interpreter);
      if (found.spec.transport === 'ipc' || starts === maxStarts || interpreter.pid !== null) throw refusal;
    }
  }

  async adopt(note: InterpreterNote, child: Child, running: RunningCell | null): Promise<Interpreter | null> {
    if (child.end || !note.kernel) return null;
    const bridge = this.deps.bridges.of(note.kernel.bridge);
    const interpreter = this.#interpreter(note.id, child, note.kernel);
    this.#directories.add(note.kernel.directory);
    const known = bridge.position;
    interpreter.resume(running, known);
    const from = running === null ? known.offset : running.from.log === known.log ? running.from.offset : 0;
    if (bridge.isRecovered) bridge.resume(interpreter, from);
    else bridge.add(interpreter);
    return interpreter;
  }

  /** Takes over the bridge of an earlier daemon, before any of its kernels. */
  recover(note: InterpreterNote, child: Child): void {
    this.deps.bridges.recover(note, child);
  }

  /** Forgets a kernel of an earlier daemon that no session uses. */
  discard({ id, kernel }: InterpreterNote): void {
    if (kernel) this.deps.bridges.remove(kernel.bridge, id);
  }

  resumeInput(): void {
    this.deps.bridges.resumeInput();
  }

  /** Called after all kernels in use were adopted. */
  recovered(): void {
    this.deps.directories.recover(this.#directories);
    this.deps.bridges.listen();
  }

  close(): void {
    this.deps.directories.close();
  }

  async #start(record: SessionRecord, account: Account, { spec, python }: UsableKernel): Promise<KernelInterpreter> {
    const { accounts, bridges, environment } = this.deps;
    const id = mintId('kernel');
    const connection = await this.#connection(spec);
    const owner = accounts.unlessOwn(account);
    const directory = this.#makeDirectory(owner, connection);
    const note: KernelNote = {
      bridge: { account: `${account.uid}:${account.gid}`, python },
      connection: connectionIn(directory, connection),
      directory,
      interruptMode: spec.interruptMode,
      language: spec.language,
    };
    try {
      const child = await startProcess(this.deps, {
        note: { id, backend: this.name, language: record.language, kernel: note },
        argv: argvOf(spec, `${directory}/${connectionFile}`),
        env: commandEnvironment(environment, account, [spec.env, inline, record.env]),
        ...{ account, capBytes },
        cwd: record.cwd,
        stdin: 'null',
      });
      const interpreter = this.#interpreter(id, child, note);
      bridges.of(note.bridge).add(interpreter);
      return interpreter;
    } catch (error) {
      this.#removeDirectory(directory);
      throw error;
    }
  }

  #interpreter(id: string, child: Child, note: KernelNote): KernelInterpreter {
    const { bridges, now } = this.deps;
    const forget = () => {
      bridges.remove(note.bridge, id);
      this.#removeDirectory(note.directory);
    };
    return new KernelInterpreter({ id, child, note, bridge: bridges.of(note.bridge), forget, now });
  }

  async #connection({ transport }: Kernelspec): Promise<Connection> {
    const ports = transport === 'ipc' ? [1, 2, 3, 4, 5] : await this.deps.freePorts(5);
    const [shell = 0, iopub = 0, stdin = 0, control = 0, heartbeat = 0] = ports;
    return {
      transport,
      ip: '127.0.0.1',
      ...{ shell_port: shell, iopub_port: iopub, stdin_port: stdin, control_port: control, hb_port: heartbeat },
      key: this.deps.randomKey(),
      signature_scheme: 'hmac-sha256',
    };
  }

  #makeDirectory(owner: Account | null, connection: Connection): string {
    const directory = this.deps.directories.make(owner, (path) => JSON.stringify(connectionIn(path, connection)));
    this.#directories.add(directory);
    return directory;
  }

  #removeDirectory(directory: string): void {
    this.#directories.delete(directory);
    this.deps.directories.remove(directory);
  }

  #discard(interpreter: KernelInterpreter): void {
    interpreter.close().catch((error: unknown) => this.deps.onFault('a kernel could not be ended', error));
  }
}

function argvOf({ argv, program }: Kernelspec, file: string): readonly string[] {
  const [first = '', ...rest] = argv.map((argument) => argument.replaceAll('{connection_file}', file));
  return [program ?? first, ...rest];
}

/** Unix sockets are in the same directory as the connection file. */
function connectionIn(directory: string, connection: Connection): Connection {
  return connection.transport === 'ipc' ? { ...connection, ip: `${directory}/s` } : connection;
}
