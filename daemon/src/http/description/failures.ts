/** Describes the failures of a route: one schema for each set of codes that share a status. */
import { errorCodes, type ErrorCode } from '../../kit/errors.ts';
import { isOfV1, statusOf } from '../route/envelope.ts';
import { publicPaths } from '../guard/auth.ts';
import type { RouteShape } from '../route/route.ts';
import { pascal, type Json, type Schemas } from './schemas.ts';

export const envelopeFields = {
  success: { type: 'boolean', description: 'Whether the call succeeded.' },
  message: { type: 'string', description: 'One-line summary.' },
  hint: { type: ['string', 'null'], description: 'What to do next.' },
};
export const required = ['success', 'message', 'data', 'hint'];

const errors = {
  type: 'array',
  items: {
    type: 'object',
    required: ['location', 'message', 'type'],
    properties: {
      location: { type: 'string', description: 'Starts with body, query or path.' },
      message: { type: 'string' },
      type: { type: 'string' },
    },
  },
};

/** Failures of v1, which keep the layout of 1.x. */
const schemasOfV1 = {
  Failure: {
    type: 'object',
    required,
    properties: { ...envelopeFields, data: { type: ['object', 'null'], description: 'Facts about the failure.' } },
  },
  ValidationFailure: {
    type: 'object',
    required: [...required, 'errors'],
    properties: { ...envelopeFields, data: { type: ['object', 'null'] }, errors },
  },
};

/** The fields of a failed file operation, beside its code. */
const fileFacts = {
  errno: { type: 'integer', description: 'Error number of the system.' },
  errno_name: { type: 'string', description: 'Its symbolic name, such as ENOENT.' },
  error_type: { type: 'string', description: 'Kind of failure, such as not_found or permission_denied.' },
  exception_type: { type: 'string', description: 'The class of the exception in Python, such as FileNotFoundError.' },
  message: { type: 'string' },
  operation: { type: 'string', description: 'What failed, such as read or write.' },
  path: { type: 'string', description: 'The absolute path.' },
};

/** A failure of a route with this path, with any code. */
export function anyFailure(path: string, schemas: Schemas): Json {
  const schema = isOfV1(path) ? failureOfV1(schemas, []) : addFailure(schemas, 'Failure', errorCodes);
  return { description: 'Any failure', content: asJson(schema) };
}

/** A failure with one of these codes. */
function addFailure(schemas: Schemas, name: string, codes: readonly ErrorCode[]): Json {
  const isInvalid = codes.every((code) => statusOf[code] === statusOf.invalid_input);
  const facts = {
    code: { type: 'string', enum: codes },
    retryable: { type: 'boolean', description: 'Whether the same call may succeed later.' },
    ...(codes.some((code) => code.startsWith('file_')) && fileFacts),
    ...(codes.includes('internal_error') && {
      request_id: { type: 'string', description: 'Names the failure in the log of the daemon.' },
    }),
  };
  const data = { type: 'object', required: ['code', 'retryable'], properties: facts, additionalProperties: true };
  return schemas.add(name, {
    type: 'object',
    required: [...required, ...(isInvalid ? ['errors'] : [])],
    properties: {
      ...envelopeFields,
      data: schemas.add(`${name}Data`, data),
      ...(codes.includes('invalid_input') && { errors }),
    },
  });
}

/**
 * Every request has its Host and Origin checked first, and any may find no descriptor left, so these codes name no
 * schema beside others.
 */
const general: readonly ErrorCode[] = ['malformed_request', 'forbidden', 'unavailable'];

/** How failures are shown: `content` is that of the codes which share a status. */
export interface FailureForm {
  readonly status: (code: ErrorCode, route: RouteShape) => number;
  readonly content: (route: RouteShape, codes: readonly ErrorCode[], schemas: Schemas) => Json;
}

const ownForm: FailureForm = {
  status: (code) => statusOf[code],
  content: ({ path }, codes, schemas) => asJson((isOfV1(path) ? failureOfV1 : failureOf)(schemas, codes)),
};

/** The answers of a route that are failures, by status. */
export function describeFailures(route: RouteShape, schemas: Schemas, form: FailureForm = ownForm): Json {
  const byStatus: Record<string, ErrorCode[]> = {};
  const hasInputs = route.params ?? route.query ?? route.body ?? route.content;
  const isPublic = publicPaths.has(route.path);
  const codes = new Set<ErrorCode>([
    ...(route.errors ?? []),
    ...general,
    ...(isPublic ? [] : (['unauthorized'] as const)),
    ...(route.socket ? (['upgrade_required'] as const) : []),
    ...(route.body || route.content ? (['unsupported_coding'] as const) : []),
    ...(route.body ? (['body_too_large', 'capacity_reached'] as const) : []),
    ...(hasInputs || route.isStrict ? (['invalid_input'] as const) : []),
    'internal_error',
  ]);
  for (const code of codes) (byStatus[form.status(code, route)] ??= []).push(code);
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, some]) => [
      status,
      { description: some.join(', '), content: form.content(route, some, schemas) },
    ]),
  );
}

function asJson(schema: Json): Json {
  return { 'application/json': { schema } };
}

function failureOfV1(schemas: Schemas, codes: readonly ErrorCode[]): Json {
  const name = codes.includes('invalid_input') ? 'ValidationFailure' : 'Failure';
  return schemas.add(name, schemasOfV1[name]);
}

function failureOf(schemas: Schemas, given: readonly ErrorCode[]): Json {
  const codes = errorCodes.filter((code) => given.includes(code));
  const own = codes.filter((code) => !general.includes(code));
  const name = (own.length === 0 ? codes : own).map(pascal).join('Or');
  return addFailure(schemas, `${name}Failure`, codes);
}
