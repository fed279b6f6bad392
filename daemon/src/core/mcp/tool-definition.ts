/** Decides whether the hub can offer a tool: one bad definition makes strict clients refuse the whole list. */
import { isFields, type Fields } from '../../kit/types/fields.ts';
import { isDeeper, maxSchemaDepth, modelSchema, UnfitSchema } from './model-schema.ts';
import { parameterHeaders, type ParameterHeader } from './parameter-headers.ts';

/** A tool as the hub offers it: as its server describes it, with a schema that the APIs of models take. */
export interface ServerTool {
  readonly name: string;
  readonly definition: Fields;
  readonly headers: readonly ParameterHeader[];
  /** Characters of the definition as JSON. */
  readonly length: number;
}

export interface LeftOutTool {
  /** Quoted, and short enough for a log. */
  readonly name: string;
  readonly reason: string;
}

/** The longest name of the specification. */
const maxNameLength = 128;
/** A tool is read by a model with each session, so this is generous. */
export const maxDefinitionLength = 64 * 1024;

export function readTool(definition: unknown, isModern: boolean): ServerTool | LeftOutTool {
  if (!isFields(definition)) return { name: 'one without fields', reason: 'it is not an object' };
  const { name } = definition;
  if (typeof name !== 'string' || name === '') return { name: 'one without a name', reason: 'its name is not text' };
  const reason = whyUnfit(name, definition);
  if (reason !== null) return { name: shownName(name), reason };
  const headers = isModern ? parameterHeaders(definition['inputSchema']) : [];
  if (headers === null) return { name: shownName(name), reason: 'its schema has an invalid x-mcp-header' };
  const offered = offeredDefinition(definition);
  if (typeof offered === 'string') return { name: shownName(name), reason: offered };
  const { length } = JSON.stringify(offered);
  if (length <= maxDefinitionLength) return { name, definition: offered, headers, length };
  return { name: shownName(name), reason: `its definition has more than ${maxDefinitionLength / 1024} KiB` };
}

function whyUnfit(name: string, definition: Fields): string | null {
  if (name.length > maxNameLength) return `its name is longer than ${maxNameLength} characters`;
  if (/[\p{Control}\p{Surrogate}]/u.test(name)) return 'its name has control characters';
  // Depth comes first: nothing below may recurse into the definition before.
  if (isDeeper(definition, maxSchemaDepth)) return `its definition is nested deeper than ${maxSchemaDepth}`;
  const { title, description, inputSchema, outputSchema, annotations } = definition;
  if (!isFields(inputSchema) || inputSchema['type'] !== 'object') return 'its inputSchema is not that of an object';
  if (!isAbsentOr(isFields, outputSchema)) return 'its outputSchema is not an object';
  if (!isAbsentOr(isFields, annotations)) return 'its annotations are not an object';
  if (![title, description].every((text) => isAbsentOr(isText, text))) return 'its title or description is not text';
  return null;
}

/** The definition, or why it cannot be offered. */
function offeredDefinition(definition: Fields): Fields | string {
  if (JSON.stringify(definition).length > maxDefinitionLength) return definition;
  try {
    return { ...definition, inputSchema: modelSchema(definition['inputSchema'] as Fields) };
  } catch (error) {
    if (error instanceof UnfitSchema) return error.message;
    throw error;
  }
}

function isAbsentOr(isFit: (value: unknown) => boolean, value: unknown): boolean {
  return value === undefined || isFit(value);
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

/** The form that OpenAI, Anthropic and Gemini all take as the name of a function. */
const modelName = /^[A-Za-z_][\w-]{0,63}$/;

/** The name of a tool with every other character replaced; null when no API of a model takes a name that long. */
export function nameForModels(name: string): string | null {
  const plain = name.replaceAll(/[^\w-]/gu, '_').replace(/^(?=[^A-Za-z_])/, '_');
  return modelName.test(plain) ? plain : null;
}

/** Quoted, and short enough for a log. */
export function shownName(name: string): string {
  return JSON.stringify(shortName(name));
}

export function shortName(name: string): string {
  return name.length > maxNameLength ? `${name.slice(0, maxNameLength).toWellFormed()}…` : name.toWellFormed();
}
