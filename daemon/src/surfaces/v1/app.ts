/** What the v1 routes work on, and the `route` function that knows it. */
import type { Capabilities } from '../../core/capabilities/capabilities.ts';
import type { CodeInfo } from '../../core/code/info.ts';
import type { CodeSessions } from '../../core/code/sessions.ts';
import type { Commands } from '../../core/commands/commands.ts';
import type { FilesContext } from '../../core/files/context.ts';
import type { Packages } from '../../core/ops/packages.ts';
import type { Sandbox } from '../../core/ops/sandbox.ts';
import type { Toolchains } from '../../core/ops/toolchain.ts';
import type { Screens } from '../../core/terminals/screen.ts';
import type { Terminals } from '../../core/terminals/terminals.ts';
import type { Watchers } from '../../core/watch/watchers.ts';
import { routesFor } from '../../http/route.ts';

export interface V1Deps {
  readonly capabilities: Capabilities;
  readonly commands: Commands;
  readonly code: CodeSessions;
  readonly codeInfo: CodeInfo;
  readonly files: FilesContext;
  readonly sandbox: Sandbox;
  readonly toolchains: Toolchains;
  readonly packages: Packages;
  readonly terminals: Terminals;
  readonly screens: Screens;
  readonly watchers: Watchers;
  /** Fires when the daemon is going: streams say so and end. */
  readonly closing: AbortSignal;
  /** The OpenAPI document of this surface; made when it is first asked for, because it takes megabytes. */
  readonly openApi: () => Promise<object>;
}

export const route = routesFor<V1Deps>();
