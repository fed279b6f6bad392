/** The client of boxkeep. */
export { Sandbox, type SandboxOptions } from './sandbox.ts';
export type { ActivityEvent, ActivityOptions } from './activity.ts';
export { CodeSession, type Code } from './code.ts';
export type { FileEdit, Files } from './files.ts';
export { CommandHandle, type CommandInput, type Commands } from './commands.ts';
export type { Ending, Offsets, OutputEvent, StreamName } from './output.ts';
export type { TerminalEvent, TerminalExit, TerminalOutput } from './terminal/events.ts';
export { Terminal, type AttachOptions, type OpenOptions, type Terminals } from './terminal/terminals.ts';
export { BoxError, type ErrorCode, type Result, type Throwing } from './result.ts';
export type { LiveEvent } from './live.ts';
export type { Mcp, McpAnswer, McpTool } from './mcp.ts';
export type { Fields, OperationsOf, Picture } from './operations.ts';
export type {
  Answer,
  CallOptions,
  Fetch,
  Input,
  JsonOperation,
  RawOptions,
  SocketConstructor,
  SocketLike,
} from './transport.ts';
export { Download, type Source, type TransferOptions } from './transfer/transfers.ts';
export { Watch, type FileChange } from './watch.ts';
export { version } from './wire.ts';
export type * from './wire.ts';
