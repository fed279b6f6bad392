/** What the E2B surface works on. */
import type { Accounts } from '../../core/identity/accounts.ts';
import type { Commands } from '../../core/commands/commands.ts';
import type { CodeSessions } from '../../core/code/sessions/sessions.ts';
import type { FilesContext } from '../../core/files/context.ts';
import type { Watchers } from '../../core/watch/watchers.ts';
import type { Sandbox } from '../../core/ops/sandbox.ts';
import type { ApiKey } from '../../http/guard/auth.ts';
import type { MachineSize, MachineUse } from '../../kit/types/machine-use.ts';
import type { Defaults } from './defaults.ts';
import type { FileAttributes } from './metadata.ts';

export interface E2bDeps {
  readonly accounts: Accounts;
  readonly apiKey: ApiKey;
  readonly code: CodeSessions;
  readonly commands: Commands;
  readonly defaults: Defaults;
  readonly files: FilesContext;
  /** The program that adds the media types of the protocol to what cells of Python show. */
  readonly formats: string;
  readonly sandbox: Sandbox;
  readonly watchers: Watchers;
  readonly attributes: FileAttributes;
  /** Whether a path is on a file system that other machines change. */
  readonly isNetworkMount: (path: string) => boolean;
  /** Whether an absolute path leads to a program. */
  readonly isProgram: (path: string) => boolean;
  readonly machineSize: () => MachineSize;
  readonly machineUse: () => MachineUse;
  /** Fires when the daemon shuts down. */
  readonly closing: AbortSignal;
  /** Gets errors that are bugs. */
  readonly onFault: (error: unknown) => void;
}
