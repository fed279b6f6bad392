/** The planes of core that routes and tools work on. */
import type { Capabilities } from '../core/capabilities/capabilities.ts';
import type { CodeInfo } from '../core/code/info.ts';
import type { CodeSessions } from '../core/code/sessions/sessions.ts';
import type { Commands } from '../core/commands/commands.ts';
import type { FilesContext } from '../core/files/context.ts';
import type { ActivityFeed } from '../core/ops/activity.ts';
import type { Packages } from '../core/ops/packages.ts';
import type { Sandbox } from '../core/ops/sandbox.ts';
import type { Screens } from '../core/terminals/screen/screen.ts';
import type { Terminals } from '../core/terminals/session/terminals.ts';
import type { Watchers } from '../core/watch/watchers.ts';

export interface Planes {
  readonly activity: ActivityFeed;
  readonly commands: Commands;
  readonly code: CodeSessions;
  readonly codeInfo: CodeInfo;
  readonly files: FilesContext;
  readonly capabilities: Capabilities;
  readonly sandbox: Sandbox;
  readonly packages: Packages;
  readonly terminals: Terminals;
  readonly screens: Screens;
  readonly watchers: Watchers;
  /** Fires when the daemon shuts down. Streams then report it and end. */
  readonly closing: AbortSignal;
}
