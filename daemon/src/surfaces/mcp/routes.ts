/** Runs the handler of a route for a tool, which has neither a request nor an answer of HTTP. */
import { Answer } from '../../kit/answer.ts';
import type { RequestContext } from '../../http/route/context.ts';
import type { ToolCall } from './app.ts';

/** The context of a handler that a tool runs: the call ends the waits of the handler. */
export function contextOf({ context, signal }: ToolCall): RequestContext {
  return { ...context, signal };
}

export function hintIn(answer: unknown): string | null {
  return answer instanceof Answer ? (answer.details.hint ?? null) : null;
}

/** The inputs that a route does not have. */
export const noInputs = { params: undefined, query: undefined, body: undefined, content: undefined } as const;
