/** Makes the route of an operation: where the input stands in a request, and how the output is sent. */
import type { z } from 'zod';
import { Answer, dataOf } from '../../kit/answer.ts';
import type { Call, Operation } from '../../operations/operation.ts';
import type { RawReply } from '../stream/raw.ts';
import type { RequestContext } from './context.ts';
import { routesFor, type Method, type RawAnswer, type Route, type SurfaceStyle } from './route.ts';

type Fields<S> = S extends z.ZodType ? z.output<S> : undefined;
type Merged<Q, B> = Q extends z.ZodType
  ? Fields<Q> & (B extends z.ZodType ? Fields<B> : unknown)
  : B extends z.ZodType
    ? Fields<B>
    : Record<string, never>;

interface Given<Q, B> {
  readonly query: Fields<Q>;
  readonly body: Fields<B>;
  readonly headers: Headers;
}

/** `read` may be left out where the fields of query and body together are the input. */
type Reading<I extends z.ZodType, Q, B> =
  Merged<Q, B> extends z.output<I>
    ? { readonly read?: (given: Given<Q, B>) => z.output<I> }
    : { readonly read: (given: Given<Q, B>) => z.output<I> };

export type Placement<I extends z.ZodType, O extends z.ZodType, Q, B> = Reading<I, Q, B> & {
  readonly method: Method;
  readonly path: string;
  readonly summary: string;
  /** The name in OpenAPI, where one operation has several routes. */
  readonly name?: string;
  readonly query?: Q;
  readonly body?: B;
  /** What the answer is described as, where that is not the output. */
  readonly data?: z.ZodType;
  /** Describes the fields of the output that stand beside those of the envelope too. */
  readonly top?: z.ZodObject;
  /** Describes an answer that is not JSON. `reply` makes it. */
  readonly raw?: RawAnswer;
  readonly reply?: (output: z.input<O>) => RawReply;
  /** The answer of the route, where it is not the output alone. */
  readonly answer?: (output: z.input<O>, input: z.output<I>) => Answer<unknown>;
};

/** The route of a surface with this style. */
export type Placed<Deps> = (style: SurfaceStyle) => Route<Deps>;

/** `handle` answers the input; by default it runs the operation. */
export function routeOf<
  Deps,
  I extends z.ZodType,
  O extends z.ZodType,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(
  operation: Operation<Deps, I, O>,
  at: Placement<I, O, Q, B>,
  handle: (deps: Deps, input: z.output<I>, call: Call) => Promise<unknown> = async (deps, input, call) => {
    const output = await operation.run(deps, input, call);
    return at.answer ? at.answer(dataOf(output), input) : sent(at, output);
  },
): Placed<Deps> {
  const { name, output, errors } = operation;
  const { method, path, summary, raw, top } = at;
  const read = at.read ?? ((given: Given<Q, B>) => Object.assign({}, given.query, given.body) as z.output<I>);
  return (style) =>
    routesFor<Deps>(style)({
      ...{ operation: at.name ?? name, method, path, summary, errors },
      ...{ query: at.query as Q, body: at.body as B },
      ...(top && { top }),
      ...(raw ? { raw } : { data: at.data ?? output }),
      handle: (deps, { query: fields, body: more, context }) => {
        const given = { query: fields, body: more, headers: context.headers } as Given<Q, B>;
        return handle(deps, read(given), callOf(context));
      },
    });
}

function sent<T>({ reply, top }: { reply?: (output: T) => RawReply; top?: z.ZodObject }, answer: T | Answer<T>) {
  if (reply) return reply(dataOf(answer));
  if (!top) return answer;
  const { data, details } = answer instanceof Answer ? answer : new Answer(answer);
  return new Answer(data, { ...details, top: data as object });
}

/** What an operation learns about its caller: no more than any surface can tell. */
export function callOf({ requestId, headers, signal }: Pick<RequestContext, 'requestId' | 'headers' | 'signal'>): Call {
  const given = ['traceparent', 'tracestate'].flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return { signal, trace: { ...Object.fromEntries(given), 'x-request-id': requestId } };
}
