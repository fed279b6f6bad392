/** Manages the kernel bridges: one for each account that has kernels. */
import { HandedOver } from '../../../kit/handed-over.ts';
import type { JsonBounds } from '../../../kit/text/json-bounds.ts';
import type { Child } from '../../../platform/process/spawn.ts';
import { commandEnvironment } from '../../processes/environment.ts';
import { Bridge } from './bridge.ts';
import type { BridgePlace, InterpreterNote } from './note.ts';
import type { InterpreterProgram } from './repl.ts';
import { startProcess, type ProcessDeps } from './start-process.ts';

export interface BridgesDeps extends ProcessDeps {
  readonly environment: Readonly<Record<string, string>>;
  readonly program: (python: string) => InterpreterProgram;
  /** Of one message of a kernel. */
  readonly bounds: JsonBounds;
  readonly onFault: (what: string, error: unknown) => void;
}

/** Limit on the unread outputs of all kernels of an account. */
const capBytes = 64 * 1024 * 1024;

export class Bridges {
  readonly #byAccount = new Map<string, Bridge>();

  constructor(private readonly deps: BridgesDeps) {}

  of(place: BridgePlace): Bridge {
    const { bounds, onFault } = this.deps;
    const start = (id: string) => this.#start(id, place);
    return this.#byAccount.getOrInsertComputed(place.account, () => new Bridge({ start, bounds, onFault }));
  }

  /** Takes over the bridge of an earlier daemon. The caller must call `listen` afterwards. */
  recover({ id, bridge: place }: InterpreterNote, child: Child): void {
    if (place) this.of(place).recover(id, child);
  }

  /** Starts to read the bridges of an earlier daemon, and ends unused bridges. */
  listen(): void {
    for (const [account, bridge] of this.#byAccount) {
      bridge.listen();
      if (bridge.isUnused) this.#end(account, bridge);
    }
  }

  resumeInput(): void {
    for (const bridge of this.#byAccount.values()) bridge.resumeInput();
  }

  /** Removes a kernel. A bridge without kernels ends. */
  remove(place: BridgePlace, kernel: string): void {
    const bridge = this.of(place);
    bridge.remove(kernel);
    if (bridge.isUnused && !bridge.isRecovered) this.#end(place.account, bridge);
  }

  #end(account: string, bridge: Bridge): void {
    if (this.#byAccount.get(account) === bridge) this.#byAccount.delete(account);
    bridge.end().catch((error: unknown) => {
      if (!(error instanceof HandedOver)) this.deps.onFault('a bridge could not be ended', error);
    });
  }

  async #start(id: string, place: BridgePlace) {
    const account = this.deps.accounts.resolve(place.account);
    const { argv, input } = this.deps.program(place.python);
    const child = await startProcess(this.deps, {
      note: { id, backend: 'bridge', language: 'python', bridge: place },
      ...{ account, argv, capBytes },
      env: commandEnvironment(this.deps.environment, account, []),
      cwd: '/',
      stdin: 'pipe',
    });
    return { child, program: input };
  }
}
