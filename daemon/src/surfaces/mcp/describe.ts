/** Describes the tools of a set as `tools/list` sends them, with JSON Schemas derived from the definitions. */
import { z } from 'zod';
import type { Json } from '../../http/description/schemas.ts';
import { modelSchema } from '../../core/mcp/model-schema.ts';
import { errorCodes } from '../../kit/errors.ts';
import type { Tool, ToolSet } from './app.ts';

export interface ToolDescription {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly outputSchema: object;
  readonly annotations: object;
}

/** What a failed call answers beside its text, with further facts of the failure. */
const failure = {
  type: 'object',
  properties: {
    code: { type: 'string', enum: errorCodes },
    message: { type: 'string' },
    hint: { type: ['string', 'null'] },
    retryable: { type: 'boolean', description: 'Whether the same call may succeed later.' },
  },
  required: ['code', 'message', 'hint', 'retryable'],
};

export function describeTools({ tools }: ToolSet): readonly ToolDescription[] {
  return tools.map(({ name, title, description, annotations, input, output }: Tool) => ({
    name,
    title,
    description,
    inputSchema: modelSchema(schemaOf(input, 'input')),
    // Clients check what a failed call answers too, and the protocol wants an object at the root.
    outputSchema: { type: 'object', anyOf: [schemaOf(output, 'output'), failure] },
    annotations,
  }));
}

/** Without references, because not every client of a model resolves them, and without words that no model needs. */
function schemaOf(schema: z.ZodObject, io: 'input' | 'output'): Json {
  const { $schema: _dialect, $defs = {}, ...described } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return inlined(described, $defs) as Json;
}

function inlined(value: unknown, definitions: Json): unknown {
  if (Array.isArray(value)) return value.map((one) => inlined(one, definitions));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, ...rest } = value as Json;
  if (typeof $ref === 'string') {
    const target = definitions[$ref.replace('#/$defs/', '')] as Json;
    return inlined({ ...target, ...rest }, definitions);
  }
  const kept = Object.entries(rest).filter(([key, inner]) => !isNoise(key, inner));
  return Object.fromEntries(kept.map(([key, inner]) => [key, inlined(inner, definitions)]));
}

/** Bounds that only repeat the range of exact numbers, the pattern that excludes NUL bytes, and names of schemas. */
function isNoise(key: string, value: unknown): boolean {
  if (key === 'id') return typeof value === 'string';
  if (key === 'pattern') return value === '^[^\\u0000]*$';
  return (key === 'maximum' || key === 'minimum') && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;
}
