/** Prints what the Python client needs of the description when it runs: operations, error codes, optional fields. */
import { errorAdvice } from '../error-codes.ts';
import type { DocumentShape, Shape } from '../operation-shapes.ts';
import { classNameOf, head, inputsOf, payloadOf } from './inputs.ts';
import { safeOperations } from './methods.ts';

export function wireOf({ operations, types }: DocumentShape, version: string): string {
  const codes = Object.entries(errorAdvice);
  const routes = operations.map((operation) => {
    const { name, method, path, inQuery, answer } = operation;
    const notes = [
      method !== 'GET' &&
        inQuery.length > 0 &&
        `query=(${inQuery
          .map((field) => `"${field.name}", `)
          .join('')
          .trimEnd()})`,
      inputsOf(operation, types).hasBareBody && 'has_bare_body=True',
      answer && !payloadOf(operation, types) && 'is_whole=True',
      safeOperations.has(name) && 'is_safe=True',
    ].filter((note) => typeof note === 'string');
    const values = [`"${method}"`, `"${path}"`, ...notes];
    const line = `    "${name}": Route(${values.join(', ')}),\n`;
    return line.length > 121 ? `    "${name}": Route(\n        ${values.join(',\n        ')},\n    ),\n` : line;
  });
  const optional = new Set([...types.values()].flatMap(optionalIn));
  return `${head}"""The operations and the errors of the daemon, as the client needs them when it runs."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ._errors import BoxError

__all__ = [
${['ErrorCode', ...codes.map(([code]) => classNameOf(code))].map((name) => `    "${name}",\n`).join('')}]

version = "${version}"

ErrorCode = Literal[
${codes.map(([code]) => `    "${code}",\n`).join('')}]

${codes.map(([code, advice]) => errorClass(code, advice.join(' '))).join('')}
errors: dict[str, type[BoxError]] = {
${codes.map(([code]) => `    "${code}": ${classNameOf(code)},\n`).join('')}}


class Route(NamedTuple):
    """How an operation is called."""

    method: str
    path: str
    query: tuple[str, ...] = ()
    """Fields of the query, where there may be a body too."""
    has_bare_body: bool = False
    """The field \`body\` is the body."""
    is_whole: bool = False
    """The answer has more than a payload, and is returned as a whole."""
    is_safe: bool = False
    """The operation has no effect, although it is no GET."""


routes: dict[str, Route] = {
${routes.join('')}}

# Fields that an answer may leave out.
optional_fields = frozenset(
    {
${[...optional]
  .toSorted()
  .map((name) => `        "${name}",\n`)
  .join('')}    }
)
`;
}

function errorClass(code: string, advice: string): string {
  return `
class ${classNameOf(code)}(BoxError):
    """${advice}"""

    code = "${code}"

`;
}

function optionalIn(shape: Shape): string[] {
  if ('parts' in shape) return shape.parts.flatMap(optionalIn);
  if (shape.kind === 'map' || shape.kind === 'list') return optionalIn(shape.values);
  if (shape.kind !== 'object') return [];
  return shape.fields.flatMap(({ name, isRequired, shape: inner }) => [
    ...(isRequired ? [] : [name]),
    ...optionalIn(inner),
  ]);
}
