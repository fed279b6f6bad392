/** What the surface for clients of agent-sandbox works on. */
import type { Commands } from '../../core/commands/commands.ts';
import type { FilesContext } from '../../core/files/context.ts';

export interface AgentSandboxDeps {
  readonly commands: Commands;
  readonly files: FilesContext;
  /** The directory to which the paths of callers are confined. */
  readonly root: string;
  /** The variables that `GET /v1/metadata` may show. */
  readonly environment: Readonly<Record<string, string>>;
  /** How their names begin. */
  readonly metadataPrefix: string;
  readonly uptimeSeconds: () => number;
  readonly jobs: Jobs;
  /** Fires when the daemon shuts down. */
  readonly closing: AbortSignal;
  /** Gets errors that are bugs. */
  readonly onFault: (error: unknown) => void;
}

/** Process groups, as the system knows them. */
interface Jobs {
  /** Null once the process has ended. `foreground` is the group that reads the terminal of the process. */
  readonly shell: (pid: number) => { readonly foreground: number } | null;
  readonly signal: (group: number, signal: NodeJS.Signals) => unknown;
}
