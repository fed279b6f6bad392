/** Prints the methods of the Python client that forward to an operation, and the types of `call`. */
import type { DocumentShape, Field, OperationShape } from '../operation-shapes.ts';
import { classNameOf, givenOf, head, inputsOf, payloadOf, planeOf } from './inputs.ts';
import { methods, planes, type Method } from './methods.ts';
import { typeIn } from './types.ts';

export function callsOf({ operations, types }: DocumentShape): string {
  const byName = new Map(operations.map((operation) => [operation.name, operation]));
  const ofPlanes = planes.map((plane): [string, Readonly<Record<string, Method>>] => {
    const ofPlane = operations.filter(({ name, frames }) => planeOf(name) === plane && frames.length === 0);
    const names = ofPlane.map(({ name }) => name);
    return [
      classNameOf(plane),
      Object.fromEntries(names.map((name) => [name.slice(plane.length + 1), { operation: name }])),
    ];
  });
  const byHand = Object.entries(methods).map(([name, ofClass]) => [`${name}Methods`, ofClass] as const);
  const classes = [...byHand, ...ofPlanes].map(([className, ofClass]) => {
    const found = Object.entries(ofClass).map(([name, method]) => {
      const operation = byName.get(method.operation);
      if (!operation) throw new Error(`no operation has the name ${method.operation}`);
      return { name, method, operation };
    });
    const isHandle = found.some(({ method }) => method.own);
    return [
      `\n\nclass Async${className}(${isHandle ? 'AsyncHandle' : 'AsyncPlane'}):`,
      ...found.flatMap(({ method, operation }) => attributesOf(method, operation, types)),
      ...found.map(({ name, method, operation }) => methodText(name, method, operation, types)),
    ].join('\n');
  });
  const overloads = operations.filter(({ answer }) => answer).map((operation) => overload(operation, types));
  return `${head}"""Methods that forward to an operation of the daemon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from .._picture import Picture, picture_of
from ._plane import AsyncHandle, AsyncPlane

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .. import types
${classes.join('')}

class AsyncOperations(AsyncPlane):
${overloads.join('\n')}
    async def call(self, name: str, /, **fields: Any) -> Any:
        """Calls an operation by the name that it has in the description, with its fields as keywords."""
        return await self._transport.call(name, **fields)
`;
}

/** The attributes that an object has besides its id. */
function attributesOf({ own = {} }: Method, operation: OperationShape, types: DocumentShape['types']): string[] {
  const { fields, owner } = inputsOf(operation, types);
  return Object.entries(own)
    .filter(([, name]) => name !== 'id')
    .map(([field, name]) => `    ${name}: ${typeOfField(field, fields, owner)}\n`);
}

function typeOfField(name: string, fields: readonly Field[], owner: string): string {
  const { shape } = fields.find((field) => field.name === name)!;
  return typeIn('types.', shape, `${owner}${classNameOf(name)}`, 'input');
}

function methodText(
  name: string,
  { operation: id, given = [], own = {} }: Method,
  operation: OperationShape,
  types: DocumentShape['types'],
): string {
  const { fields, owner } = inputsOf(operation, types);
  const params = given.map((field) => `${field}: ${typeOfField(field, fields, owner)}`);
  const passed = [
    ...Object.entries(own).map(([field, name]) => `${field}=self.${name}`),
    ...given.map((field) => `${field}=${field}`),
  ];
  const signature = ['self', ...params, `**more: Unpack[${moreOf(operation, types)}]`].join(', ');
  if (!operation.answer)
    return `    async def ${name}(${signature}) -> Picture:
        """${operation.summary}."""
        return picture_of(await self._transport.send("${id}", **more))
`;
  const answer = answerOf(operation, types);
  const args = [`"${id}"`, ...passed, '**more'].join(', ');
  const line = `answer: ${answer} = await self._transport.call(${args})`;
  const call = line.length > 112 ? line.replace(args, `\n            ${args}\n        `) : line;
  return `    async def ${name}(${signature}) -> ${answer}:
        """${operation.summary}."""
        ${call}
        return answer
`;
}

function overload(operation: OperationShape, types: DocumentShape['types']): string {
  const { name } = operation;
  const input = inputsOf(operation, types).fields.length > 0 ? `types.${classNameOf(name)}Input` : 'types.CallOptions';
  return `    @overload
    async def call(
        self, name: Literal["${name}"], /, **fields: Unpack[${input}]
    ) -> ${answerOf(operation, types)}: ...
`;
}

function moreOf({ name, ...operation }: OperationShape, types: DocumentShape['types']): string {
  if (givenOf(name).length > 0) return `types.${classNameOf(name)}More`;
  const { fields } = inputsOf({ name, ...operation }, types);
  return fields.length > 0 ? `types.${classNameOf(name)}Input` : 'types.CallOptions';
}

function answerOf(operation: OperationShape, types: DocumentShape['types']): string {
  const payload = payloadOf(operation, types);
  const shape = payload ?? operation.answer ?? { kind: 'scalars', names: ['unknown'] };
  return typeIn('types.', shape, `${classNameOf(operation.name)}Data`, 'answer');
}
