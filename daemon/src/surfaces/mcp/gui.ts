/** Calls the computer-use worker for the tools that show and operate the display. */
import { CoreError, type ErrorCode } from '../../kit/errors.ts';
import { statusOf } from '../../http/route/envelope.ts';
import { forward, type Target } from '../../http/route/forward.ts';
import type { McpDeps, ToolCall } from './app.ts';
import { contextOf } from './routes.ts';

interface Refusal {
  readonly message?: string;
  readonly hint?: string | null;
}

/** Resolves with the answer of the worker. Throws its refusal, or `unavailable` where no worker runs. */
export async function askDisplay({ upstream }: McpDeps, target: Target, call: ToolCall): Promise<Response> {
  const response = await forward(upstream, target, contextOf(call));
  if (response.ok) return response;
  const { message = 'the worker has refused', hint = null } = (await response.json()) as Refusal;
  throw new CoreError(codeOf(response.status), message, hint === null ? {} : { hint });
}

/** What the desktop routes raise for valid input; any other status is of input that only the worker can check. */
function codeOf(status: number): ErrorCode {
  const codes = ['unavailable', 'capacity_reached'] as const;
  return codes.find((code) => statusOf[code] === status) ?? 'bad_argument';
}
