/** Defines a tool as one object, what its calls work on, and what they answer. */
import { z } from 'zod';
import type { Skills } from '../../core/mcp/skills/skills.ts';
import type { Upstreams as CoreUpstreams } from '../../core/mcp/upstreams.ts';
import type { RemoteDeps } from '../../http/route/remote.ts';
import type { Naming } from '../../http/route/refusal.ts';
import type { RequestContext } from '../../http/route/context.ts';
import { callOf } from '../../http/route/operation-route.ts';
import { InvalidInput } from '../../http/route/envelope.ts';
import { validate, withoutNulls } from '../../http/route/validate.ts';
import { dataOf } from '../../kit/answer.ts';
import type { Fields } from '../../kit/types/fields.ts';
import type { Operation } from '../../operations/operation.ts';
import type { BrowserDeps } from '../browser/app.ts';
import type { V2Deps } from '../v2/app.ts';
import type { SavedOutputs } from './saved-outputs.ts';

/** The tools of the other MCP servers of the image, which are loaded with their first use. */
type Upstreams = Pick<CoreUpstreams, 'tools' | 'call'> & { losses(): Promise<readonly string[]> };

/** The objects that the tools use. */
export interface McpDeps extends V2Deps, Omit<BrowserDeps, keyof V2Deps>, RemoteDeps {
  readonly version: string;
  /** True if the built-in tools answer structured content beside the text. */
  readonly isStructured: boolean;
  readonly skills: Pick<Skills, 'list' | 'load'>;
  /** null where no other server is registered. */
  readonly upstreams: Upstreams | null;
}

/** One call of a tool. */
export interface ToolCall {
  readonly context: RequestContext;
  /** Fires when the caller cancels the call or has gone, and when the daemon closes. The call then stops waiting. */
  readonly signal: AbortSignal;
  /** True once the caller has cancelled or gone; false when the daemon closes. */
  readonly isCancelled: () => boolean;
  /** Takes output as it arrives; absent when the caller does not follow the call. */
  readonly onOutput?: (text: string) => void;
  readonly outputs: SavedOutputs;
}

export type Content =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string; readonly mimeType: string };

/** The result of a built-in tool on the wire. */
export interface ToolAnswer {
  readonly content: readonly Content[];
  readonly structuredContent?: object;
  readonly isError?: boolean;
}

/** What a tool returns: text for a model, and the same facts for a program. */
export interface ToolResult<Output> {
  readonly text: string;
  readonly data: Output;
  /** Content in front of the text. */
  readonly images?: readonly { readonly bytes: Uint8Array; readonly type: string }[];
  /** The tool ran, but its purpose failed. */
  readonly isError?: boolean;
}

/** The tools of one endpoint, and the words of that endpoint. */
export interface ToolSet {
  /** In the order of the list, which is public. */
  readonly tools: readonly Tool[];
  /** The name of the server. */
  readonly name: string;
  /** For the model, once for all tools. */
  readonly instructions: string;
  /** How errors of core name the tools. */
  readonly naming: Naming;
}

/** The hints of the protocol about what a tool does to the sandbox. */
export interface Annotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  /** True when the tool reaches beyond the sandbox. */
  readonly openWorldHint: boolean;
}

export interface ToolDefinition<I extends z.ZodObject, O extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: Annotations;
  /** A tool without it takes no arguments. */
  readonly input?: I;
  readonly output: O;
  /** Turns arguments in the form of other daemons into those of the input. */
  readonly prepare?: (given: Fields) => Fields;
  run(deps: McpDeps, input: z.output<I>, call: ToolCall): Promise<ToolResult<z.input<O>>>;
}

/** A tool without its type parameters. */
export interface Tool extends Omit<ToolDefinition<z.ZodObject, z.ZodObject>, 'input' | 'run'> {
  readonly input: z.ZodObject;
  run(deps: McpDeps, input: never, call: ToolCall): Promise<ToolResult<object>>;
}

/** A tool is an operation and a text. */
export interface OperationTool<
  I extends z.ZodObject,
  O extends z.ZodObject,
  OI extends z.ZodType,
  OO extends z.ZodType,
> extends Omit<ToolDefinition<I, O>, 'run'> {
  readonly operation: Operation<McpDeps, OI, OO>;
  /** The input of the operation, which checks it. */
  readonly read: (input: z.output<I>) => z.input<OI> & object;
  readonly answer: (output: z.input<OO>) => ToolResult<z.input<O>>;
}

export function toolOf<I extends z.ZodObject, O extends z.ZodObject, OI extends z.ZodType, OO extends z.ZodType>({
  operation,
  read,
  answer,
  ...definition
}: OperationTool<I, O, OI, OO>): Tool {
  return tool<I, O>({
    ...definition,
    run: async (deps, input, call) => answer(await perform(operation, deps, read(input), call)),
  });
}

/** Runs an operation for a tool. Checks the input as a route does, so that both refuse the same values. */
export async function perform<I extends z.ZodType, O extends z.ZodType>(
  { input: schema, run }: Operation<McpDeps, I, O>,
  deps: McpDeps,
  input: object,
  { context, signal }: ToolCall,
): Promise<z.input<O>> {
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  const checked = validate(schema, withoutNulls(schema, given), 'body');
  if ('errors' in checked) throw new InvalidInput(checked.errors);
  return dataOf(await run(deps, checked.value, callOf({ ...context, signal })));
}

export function tool<I extends z.ZodObject, O extends z.ZodObject>(definition: ToolDefinition<I, O>): Tool {
  return { input: z.object({}), ...definition };
}

/** Reads the sandbox and changes nothing. */
export const readsOnly: Annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
