/** Prints the types of inputs and answers for the type checkers of Python. */
import { namesIn, type DocumentShape, type Field, type Shape } from '../operation-shapes.ts';
import { classNameOf, givenOf, hasMethod, head, inputsOf, payloadOf } from './inputs.ts';

const opening = `${head}"""What the operations of the daemon take and answer, for type checkers. The client does not load it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from ._record import Record

if TYPE_CHECKING:
    from typing_extensions import NotRequired, TypeAlias

    from ._errors import BoxError


class CallOptions(TypedDict, total=False):
    """What every method takes."""

    retry_s: float
    """How long the call is repeated while the daemon is away, or refuses for a while."""
    timeout_s: float
    """How long the caller waits. Then the method raises \`TimeoutError\`."""
    on_away: Callable[[BoxError, float], object]
    """
    Hears, before each wait, of the failure that is waited out and of the seconds since the first failure in a row. An
    error that it raises ends the call.
    """
`;

type Side = 'input' | 'answer';

export function typesOf(document: DocumentShape): string {
  return new TypesPrinter(document).print();
}

/** The name of a type as other modules write it. */
export function typeIn(module: string, shape: Shape, owner: string, side: Side): string {
  return new TypesPrinter({ operations: [], types: new Map() }, module).typeOf(shape, owner, side);
}

class TypesPrinter {
  readonly #printed = new Map<string, string>();

  constructor(
    private readonly document: Pick<DocumentShape, 'operations' | 'types'>,
    private readonly module = '',
  ) {}

  print(): string {
    const { operations, types } = this.document;
    const inputs = operations.map((operation) => ({ operation, ...inputsOf(operation, types) }));
    const answers = operations.flatMap((operation) => payloadOf(operation, types) ?? operation.answer ?? []);
    this.#addNamed([{ kind: 'name', name: 'Failure' }, ...answers], 'answer');
    this.#addNamed(
      inputs.flatMap(({ fields }) => fields.map(({ shape }) => shape)),
      'input',
    );
    for (const operation of operations) {
      const payload = payloadOf(operation, types);
      if (payload) this.typeOf(payload, `${classNameOf(operation.name)}Data`, 'answer');
    }
    for (const { operation, fields, owner } of inputs) {
      if (!hasMethod(operation)) continue;
      const given = givenOf(operation.name);
      const name = classNameOf(operation.name);
      const more = fields.filter((field) => !given.includes(field.name));
      if (given.length > 0) this.#addClass(`${name}More`, more, owner, 'input', 'CallOptions');
      const rest = fields.filter((field) => given.includes(field.name));
      const base = given.length > 0 ? `${name}More` : 'CallOptions';
      if (fields.length > 0) this.#addClass(`${name}Input`, given.length > 0 ? rest : fields, owner, 'input', base);
    }
    return [opening, ...this.#printed.values()].join('\n\n');
  }

  /** Every named type that these refer to. */
  #addNamed(shapes: readonly Shape[], side: Side): void {
    const { types } = this.document;
    const reached = new Set<string>();
    const reach = (shape: Shape): void => {
      for (const name of namesIn(shape).filter((one) => !reached.has(one))) {
        reached.add(name);
        reach(types.get(name) ?? { kind: 'scalars', names: ['unknown'] });
      }
    };
    shapes.forEach(reach);
    for (const [name, shape] of types) {
      if (!reached.has(name)) continue;
      if (shape.kind === 'object') this.#addClass(name, shape.fields, name, side);
      else
        this.#add(name, `${name}: TypeAlias = (\n    ${JSON.stringify(this.typeOf(shape, `${name}Value`, side))}\n)\n`);
    }
  }

  #addClass(name: string, fields: readonly Field[], owner: string, side: Side, base?: string): void {
    const typed = fields.map((field) => ({ ...field, type: this.#fieldType(field, owner, side) }));
    // An attribute cannot have these names, so the field is an item alone.
    const isAttribute = ({ name }: Field) => !keywords.has(name) && (side === 'input' || !methodsOfDict.has(name));
    const items = typed.filter((field) => side === 'input' && !isAttribute(field));
    const bases = [base ?? (side === 'answer' ? 'Record' : 'TypedDict')];
    if (items.length > 0) {
      const table = items.map((field) => `"${field.name}": ${JSON.stringify(field.type)}`).join(', ');
      this.#add(`${name}Keywords`, `${name}Keywords = TypedDict("${name}Keywords", {${table}})\n`);
      if (base === undefined) bases.pop();
      bases.push(`${name}Keywords`);
    }
    const lines = typed.filter(isAttribute).map((field) => lineOf(field.name, field.type));
    this.#add(name, `class ${name}(${bases.join(', ')}):\n${lines.length === 0 ? '    pass\n' : lines.join('')}`);
  }

  #add(name: string, text: string): void {
    const known = this.#printed.get(name);
    if (known !== undefined && known !== text) throw new Error(`two types have the name ${name}`);
    this.#printed.set(name, text);
  }

  #fieldType({ name, shape, isRequired }: Field, owner: string, side: Side): string {
    const type = this.typeOf(shape, `${owner}${classNameOf(name)}`, side);
    if (isRequired) return type;
    if (side === 'input') return `NotRequired[${type}]`;
    return / \| None$|^None$|^Any$/.test(type) ? type : `${type} | None`;
  }

  /** An object without a name gets that of its owner. */
  typeOf(shape: Shape, owner: string, side: Side): string {
    switch (shape.kind) {
      case 'name':
        return `${this.module}${shape.name}`;
      case 'literals':
        return `Literal[${shape.values.map(literal).join(', ')}]`;
      case 'intersection':
        return 'Mapping[str, Any]';
      case 'union': {
        const objects = shape.parts.filter(({ kind }) => kind === 'object');
        const parts = shape.parts.map((part) => {
          const number = objects.length > 1 && part.kind === 'object' ? String(objects.indexOf(part) + 1) : '';
          return this.typeOf(part, `${owner}${number}`, side);
        });
        return inOrder(parts);
      }
      case 'object':
        if (this.module === '') this.#addClass(owner, shape.fields, owner, side);
        return `${this.module}${owner}`;
      case 'map':
        return `${side === 'input' ? 'Mapping' : 'dict'}[str, ${this.typeOf(shape.values, owner, side)}]`;
      case 'list':
        return `${side === 'input' ? 'Sequence' : 'list'}[${this.typeOf(shape.values, owner, side)}]`;
      case 'scalars':
        return inOrder(shape.names.map((name) => scalars[side][name] ?? 'Any'));
    }
  }
}

/** Each once, and None last. */
function inOrder(types: readonly string[]): string {
  const others = new Set(types.flatMap((type) => type.split(/ \| (?=None$)/)).filter((type) => type !== 'None'));
  return [...others, ...(types.some((type) => /(^| )None$/.test(type)) ? ['None'] : [])].join(' | ');
}

const maxLineLength = 120;

function lineOf(name: string, type: string): string {
  const line = `    ${name}: ${type}\n`;
  return line.length <= maxLineLength + 1 ? line : `    ${name}: ${broken(type, '    ')}\n`;
}

/** The parts of the innermost brackets, each on a line, as the formatters of Python do. */
function broken(type: string, indent: string): string {
  const inner = /\[([^[\]]+)\]/;
  return type.replace(inner, (_, parts: string) => {
    const separated = parts.includes(' | ')
      ? parts.replaceAll(' | ', `\n${indent}    | `)
      : `${parts.replaceAll(', ', `,\n${indent}    `)},`;
    return `[\n${indent}    ${separated}\n${indent}]`;
  });
}

function literal(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return value === null ? 'None' : JSON.stringify(value);
}

const common = { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' };
const scalars: Readonly<Record<Side, Readonly<Record<string, string>>>> = {
  input: { ...common, object: 'Mapping[str, Any]', array: 'Sequence[Any]' },
  answer: { ...common, object: 'dict[str, Any]', array: 'list[Any]' },
};

const keywords: ReadonlySet<string> = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global ' +
    'if import in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
);
const methodsOfDict: ReadonlySet<string> = new Set(
  'clear copy fromkeys get items keys pop popitem setdefault update values'.split(' '),
);
