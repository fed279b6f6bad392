/** The client of boxkeep. */
export { Sandbox, type SandboxOptions } from './sandbox.ts';
export { CommandHandle, type CommandInput, type Commands } from './commands.ts';
export type { Ending, Offsets, OutputEvent, StreamName } from './output.ts';
export { BoxError, type ErrorCode, type Result, type Throwing } from './result.ts';
export type { Answer, CallOptions, Input } from './transport.ts';
export type * from './wire.ts';
