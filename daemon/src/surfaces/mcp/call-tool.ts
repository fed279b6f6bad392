/** Calls one tool: checks its arguments, runs it, and turns its result or failure into an answer. */
import { InvalidInput } from '../../http/route/envelope.ts';
import type { ToolOutcome } from '../../http/route/context.ts';
import type { RequestContext } from '../../http/route/context.ts';
import { named, type Naming } from '../../http/route/refusal.ts';
import { toolSynonyms } from '../../http/route/synonyms.ts';
import { validate, withoutNulls } from '../../http/route/validate.ts';
import { shortName } from '../../core/mcp/tool-definition.ts';
import { UpstreamRefusal } from '../../core/mcp/upstream-refusal.ts';
import { Deadline } from '../../kit/deadline.ts';
import { CoreError, firstFailure, withoutDescriptors } from '../../kit/errors.ts';
import { nearestName } from '../../kit/text/nearest.ts';
import type { Content, McpDeps, Tool, ToolAnswer, ToolResult, ToolSet } from './app.ts';
import type { FollowedOutput } from './followed-output.ts';
import { isFields } from '../../kit/types/fields.ts';
import { codes, RpcError, type Message } from './protocol.ts';
import type { SavedOutputs } from './saved-outputs.ts';

export interface CallEnvironment {
  readonly deps: McpDeps;
  readonly set: ToolSet;
  readonly context: RequestContext;
  /** Fires when the client has cancelled the call or has gone. */
  readonly cancelled: AbortSignal;
  readonly outputs: SavedOutputs;
  /** null when the client does not follow the call. */
  readonly followed: FollowedOutput | null;
}

type Arguments = Readonly<Record<string, unknown>>;

/** The label of every tool of another server: their names are not ours, so they would be labels without bound. */
const upstreamLabel = 'upstream';

/** Throws `RpcError` for an unknown tool. */
export async function callTool(environment: CallEnvironment, { params }: Message): Promise<object> {
  const { name } = params;
  // Some clients send null for a call without arguments.
  const input = params['arguments'] ?? {};
  if (typeof name !== 'string') throw new RpcError(codes.invalidParams, 'params.name is the name of a tool');
  if (!isFields(input)) throw new RpcError(codes.invalidParams, 'params.arguments is an object');
  const { note } = environment.context;
  const { deps, set } = environment;
  const builtIn = set.tools.find((tool) => tool.name === name);
  if (!builtIn && !deps.upstreams) throw unknownTool(set, name, []);
  note.tool = builtIn?.name ?? upstreamLabel;
  environment.context.about(name);
  note.tool_outcome = 'failed'; // Until the tool has answered.
  const answer = builtIn
    ? await callBuiltIn(builtIn, input, environment)
    : await callUpstream(name, input, environment);
  note.tool_outcome = outcomeOf(answer, environment.cancelled);
  return answer;
}

function outcomeOf(answer: { readonly isError?: unknown }, cancelled: AbortSignal): ToolOutcome {
  if (cancelled.aborted) return 'cancelled';
  return answer.isError === true ? 'failed' : 'ok';
}

async function callUpstream(name: string, input: Arguments, environment: CallEnvironment): Promise<Arguments> {
  const { deps, set, context, cancelled, followed } = environment;
  using waiting = new Deadline(null, cancelled, deps.closing);
  const { signal } = waiting;
  const onProgress = followed ? (progress: Arguments) => followed.pass(progress) : undefined;
  try {
    const call = { signal, onProgress, requestId: context.requestId };
    return (await deps.upstreams?.call(name, input, call)) ?? {};
  } catch (error) {
    if (signal.aborted) return { content: [textContent(abandoned(name, cancelled))], isError: true };
    if (error instanceof UpstreamRefusal) throw refusalOf(error);
    if (error instanceof CoreError && error.code === 'tool_not_found')
      throw unknownTool(set, name, (await deps.upstreams?.tools(signal)) ?? []);
    return { ...failureAnswer(error, set.naming) };
  }
}

/** Names the tools, because a model calls one that it has not listed. */
function unknownTool({ tools: own }: ToolSet, name: string, further: readonly Arguments[]): RpcError {
  const tools = [...own.map((tool) => tool.name), ...further.map((tool) => String(tool['name']))];
  const meant = nearestName(name, tools, toolSynonyms());
  const advice = meant === null ? `the tools are ${tools.join(', ')}` : `did you mean ${meant}?`;
  return new RpcError(codes.invalidParams, `unknown tool: ${shortName(name)}; ${advice}`, {
    reason: 'tool_not_found',
    facts: { tools },
  });
}

/** The error of the server, unchanged. It comes with status 200, because this endpoint has taken the request. */
function refusalOf({ code, message, data }: UpstreamRefusal): RpcError {
  return new RpcError(code ?? codes.internalError, message, { data });
}

function abandoned(name: string, cancelled: AbortSignal): string {
  const reason = cancelled.aborted ? 'The call was cancelled' : 'The daemon is closing';
  return `${reason}. Its server has been notified, but ${name} may have had effects: look at them before calling it again.`;
}

async function callBuiltIn(tool: Tool, given: Arguments, environment: CallEnvironment): Promise<ToolAnswer> {
  const { deps, set, context, cancelled, followed, outputs } = environment;
  try {
    const input = tool.prepare?.(given) ?? given;
    const checked = validate(tool.input, withoutNulls(tool.input, input), 'body', true);
    if ('errors' in checked) throw new InvalidInput(checked.errors);
    using waiting = new Deadline(null, cancelled, deps.closing);
    const result = await tool.run(deps, checked.value as never, {
      context,
      signal: waiting.signal,
      isCancelled: () => cancelled.aborted,
      ...(followed && { onOutput: (text: string) => followed.addText(text) }),
      outputs,
    });
    return answerOf(result, deps.isStructured);
  } catch (error) {
    return failureAnswer(error, set.naming);
  }
}

function answerOf({ text, data, images = [], isError }: ToolResult<object>, isStructured: boolean): ToolAnswer {
  const pictures = images.map(({ bytes, type }): Content => {
    return { type: 'image', data: Buffer.from(bytes).toString('base64'), mimeType: type };
  });
  return {
    content: [...pictures, textContent(text)],
    ...(isStructured && { structuredContent: data }),
    ...(isError === true && { isError }),
  };
}

/** A failure that the caller can act on. Any other error is a bug, or belongs to the protocol. */
function failureAnswer(thrown: unknown, naming: Naming): ToolAnswer {
  const error = withoutDescriptors(firstFailure(thrown));
  if (!(error instanceof CoreError)) throw error;
  const worded = named(error, naming);
  const { code, facts, isRetryable: retryable } = worded;
  const { message, hint } = error instanceof InvalidInput ? { message: inputProblems(error), hint: null } : worded;
  return {
    content: [textContent(hint === null ? message : `${message}\n${hint}`)],
    structuredContent: { ...facts, code, message, hint, retryable },
    isError: true,
  };
}

/** Arguments are named as the caller sent them, without the place that a route would name. */
function inputProblems({ errors }: InvalidInput): string {
  return errors
    .map(({ location, message, type }) => {
      const name = location.replace(/^body\.?/, '') || 'arguments';
      return type === 'unknown_field' ? message : `${name} ${message}`;
    })
    .join('\n');
}

function textContent(text: string): Content {
  return { type: 'text', text: text.toWellFormed() };
}
