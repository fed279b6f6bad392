/** Serves `POST /mcp`: one JSON-RPC message a request, answered as JSON or as Server-Sent Events. */
import { z } from 'zod';
import { NotAnObject, readJsonObject } from '../../http/body/body.ts';
import { assertNotEncoded } from '../../http/body/content-coding.ts';
import { json, statusOf } from '../../http/route/envelope.ts';
import type { Route, RouteShape } from '../../http/route/route.ts';
import type { RequestContext } from '../../http/route/context.ts';
import { assertConnected } from '../../http/stream/still-connected.ts';
import { CoreError } from '../../kit/errors.ts';
import { HandedOver, RepeatElsewhere } from '../../kit/handed-over.ts';
import type { McpDeps, ToolSet } from './app.ts';
import { Call, type CallContext } from './call.ts';
import { cancelledId, codes, errorMessage, idOf, readMessage, RpcError, type Message } from './protocol.ts';
import { clientOf, RunningCalls } from './running-calls.ts';
import { SavedOutputs } from './saved-outputs.ts';
import { namedObject } from '../../operations/inputs.ts';

const accepted = 202;

const Body = namedObject('McpMessage', {
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]).optional().describe('Left out in a notification.'),
  method: z.string().optional().describe('Such as tools/list or tools/call.'),
  params: z.record(z.string(), z.unknown()).optional(),
});

/** The route, with the state of the calls that run: its tools keep output in files, and calls can be cancelled. */
export function mcpRoute(set: ToolSet): Route<McpDeps> {
  const calls = new RunningCalls();
  let outputs: SavedOutputs | null = null;
  return {
    ...description,
    async respond(deps, request, _params, context) {
      assertNotEncoded(request.headers);
      outputs ??= new SavedOutputs(deps.files);
      let body: Record<string, unknown> = {};
      try {
        context.body.room.assertRoom();
        // The body occupies memory until the call is handled.
        using reservation = context.body.room.open();
        body = await readBody(request, context, reservation);
        const message = readMessage(body, context.headers);
        await assertConnected(request);
        return await answer(message, { deps, set, context, calls, outputs });
      } catch (error) {
        if (error instanceof HandedOver) throw new RepeatElsewhere(JSON.stringify(body));
        if (error instanceof RpcError) return json(errorMessage(idOf(body), error), error.status ?? 200);
        throw error;
      }
    },
  };
}

const description = {
  operation: 'mcp.message',
  method: 'POST',
  path: '/mcp',
  hasEffect: true,
  summary: 'Send one message of the Model Context Protocol',
  isNullAbsent: false,
  isStrict: false,
  content: { 'application/json': Body },
  raw: {
    contentType: ['application/json', 'text/event-stream'],
    description: 'The JSON-RPC answer, or a stream of notifications that ends with it',
    also: {
      [accepted]: 'A notification was taken',
      [statusOf.malformed_request]: 'A JSON-RPC error: the body is not a message, or the headers contradict it',
      [statusOf.body_too_large]: 'A JSON-RPC error: the body is over the limit',
    },
  },
  errors: ['capacity_reached'],
} as const satisfies RouteShape;

/** Null is the answer of a client to a request of the server, which this server never sends. */
async function answer(message: Message | null, on: CallContext): Promise<Response> {
  if (message !== null && message.id !== null) return await new Call(on, message, message.id).respond();
  const cancelled = message && cancelledId(message);
  if (cancelled !== null) on.calls.cancel({ id: cancelled, client: clientOf(on.context.headers) });
  return new Response(null, { status: accepted });
}

type Reservation = ReturnType<RequestContext['body']['room']['open']>;

/** A body that is no message is refused in the terms of JSON-RPC, with the statuses of every other route. */
async function readBody(
  request: Request,
  context: RequestContext,
  reservation: Reservation,
): Promise<Record<string, unknown>> {
  try {
    return await readJsonObject(request, context.body, reservation);
  } catch (error) {
    const isOurs = error instanceof CoreError && ['malformed_request', 'body_too_large'].includes(error.code);
    if (!isOurs) throw error;
    const isList = error instanceof NotAnObject;
    const code = error.code === 'malformed_request' && !isList ? codes.parseError : codes.invalidRequest;
    const hint = isList ? 'send one message a request; batches are not served' : error.message;
    throw new RpcError(code, hint, { reason: error.code, status: statusOf[error.code] });
  }
}
