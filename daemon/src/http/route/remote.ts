/** Operations that another process serves: calls its routes, and reads its answers and refusals. */
import { z } from 'zod';
import { Answer } from '../../kit/answer.ts';
import { argumentNames } from '../../kit/advice.ts';
import { CoreError, errorCodes, nextArguments, type NextStep } from '../../kit/errors.ts';
import type { Call, Operation } from '../../operations/operation.ts';
import { failure, InvalidInput, statusOf } from './envelope.ts';
import type { Method, Refuse, SurfaceStyle } from './route.ts';

/** Sends calls to the other process. */
export interface Upstream {
  /** Throws `unavailable` when the other process gives no answer, `capacity_reached` when too many calls are open. */
  send(request: {
    readonly method: Method;
    /** With its query. */
    readonly path: string;
    /** The JSON body; undefined for none. */
    readonly body: unknown;
    readonly headers: Readonly<Record<string, string>>;
    readonly signal: AbortSignal;
  }): Promise<Response>;
}

export interface RemoteDeps {
  readonly upstream: Upstream;
}

export interface RemoteOperation<I extends z.ZodType, O extends z.ZodType> extends Operation<RemoteDeps, I, O> {
  /** Resolves with an answer that is not read yet, to be passed on. Throws the refusal of the other process. */
  readonly ask: (deps: RemoteDeps, input: z.output<I>, call: Call) => Promise<Response>;
}

/** How the other process serves an operation. */
interface Wire<O extends z.ZodType> {
  readonly method: Method;
  readonly path: string;
  /** The fields that stand in the query; all of a GET. */
  readonly query?: z.ZodObject | undefined;
  /** Reads an output that is not JSON. */
  readonly receive?: ((answer: Response) => Promise<z.input<O>>) | undefined;
}

export function remote<I extends z.ZodType, O extends z.ZodType>(
  operation: Pick<Operation<never, I, O>, 'name' | 'input' | 'output' | 'errors'>,
  { method, path, query, receive }: Wire<O>,
): RemoteOperation<I, O> {
  const { name, input, output, errors } = operation;
  const ask: RemoteOperation<I, O>['ask'] = async ({ upstream }, given, { signal, trace: headers }) => {
    const fields = Object.entries(given as object);
    const isInQuery = ([field]: [string, unknown]) => method === 'GET' || field in (query?.shape ?? {});
    const body = method === 'GET' ? undefined : Object.fromEntries(fields.filter((field) => !isInQuery(field)));
    const address = `${path}${asQuery(fields.filter(isInQuery))}`;
    const response = await upstream.send({ method, path: address, body, headers, signal });
    if (response.ok) return response;
    throw await refusalIn(response, errors);
  };
  return {
    ...{ name, input, output, errors, ask },
    async run(deps, given, call) {
      const response = await ask(deps, given, call);
      return receive ? await receive(response) : await answerIn(response, output);
    },
  };
}

function asQuery(fields: readonly [string, unknown][]): string {
  const given = fields.filter(([, value]) => value !== undefined && value !== null);
  const query = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
  return query.size === 0 ? '' : `?${query.toString()}`;
}

const Envelope = z.object({
  success: z.boolean(),
  message: z.string(),
  hint: z.string().nullable().default(null),
  data: z.unknown(),
});

/** Any program can answer where the other process is expected, and another version has other fields. */
async function answerIn<O extends z.ZodType>(response: Response, output: O): Promise<Answer<z.input<O>>> {
  const envelope = Envelope.safeParse(await response.json().catch(() => null));
  const checked = envelope.success && output.safeParse(envelope.data.data);
  if (!envelope.success || !checked || !checked.success)
    throw new CoreError('unavailable', 'what serves the desktop answers in another form', {
      hint: 'Start the computer-use worker of this version.',
    });
  const { success, message, hint, data } = envelope.data;
  return new Answer(data as z.input<O>, { message, hint, isFailure: !success });
}

const step = z
  .object({ operation: z.literal(Object.keys(nextArguments) as NextStep['operation'][]), id: z.string().optional() })
  .refine(({ operation, id }) => nextArguments[operation].length === 0 || id !== undefined);
const argument = z.enum(argumentNames);
/** A refusal as core raised it. */
const Refusal = z.object({
  code: z.enum(errorCodes),
  message: z.string(),
  hint: z.string().nullable(),
  advice: z
    .object({ texts: z.array(z.string()).readonly(), slots: z.array(z.union([argument, z.number()])).readonly() })
    .nullable(),
  next: step.nullable(),
  argument: argument.nullable(),
  facts: z.record(z.string(), z.unknown()).nullable(),
  isRetryable: z.boolean().optional(),
});
const refused = 'it has refused the call';
const Failure = z.object({
  message: z.string().default(refused),
  hint: z.string().nullable().default(null),
  errors: z.array(z.object({ location: z.string(), message: z.string(), type: z.string() })).optional(),
  refusal: Refusal.optional().catch(undefined),
});

/** The style of a surface whose callers, other processes, word refusals themselves. */
export function withReasons({ refuse = (error) => error, ...style }: SurfaceStyle): SurfaceStyle {
  const withReason: Refuse = (error, route) => {
    const worded = refuse(error, route);
    if (worded instanceof Response) return worded;
    const { code, message, hint, advice, next, argument: about, isRetryable } = error;
    const refusal: z.input<typeof Refusal> = {
      ...{ code, message, hint, advice, next, isRetryable },
      argument: about,
      facts: worded.facts,
    };
    return failure(worded, route.path, { refusal });
  };
  return { ...style, refuse: withReason };
}

/** A process without reasons is an older one, which tells the kind of its refusals by their status alone. */
async function refusalIn(response: Response, errors: readonly CoreError['code'][]): Promise<Error> {
  const body: unknown = await response.json().catch(() => null); // Any program can answer there.
  const { message, hint, errors: issues, refusal } = Failure.catch({ message: refused, hint: null }).parse(body);
  if (refusal) {
    const { code, message: own, argument: about, next, isRetryable, ...details } = refusal;
    return new CoreError(code, own, {
      ...details,
      next: next as NextStep | null,
      ...(about && { argument: about }),
      ...(isRetryable !== undefined && { isRetryable }),
    });
  }
  if (issues && response.status === statusOf.invalid_input) return new InvalidInput(issues);
  return new CoreError(errors.find((code) => statusOf[code] === response.status) ?? 'unavailable', message, { hint });
}
