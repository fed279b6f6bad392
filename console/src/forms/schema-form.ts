/** A form with a field for each property of a JSON Schema. */
import { element } from '../elements.ts';
import type { Schema } from './description.ts';

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly control: Control;
}

/** What a select shows for a field that is left out. */
const leftOut = '';

export class SchemaForm {
  readonly place = element('div', { class: 'fields' });
  readonly #fields: readonly Field[];

  /** `values`: what the fields hold at first. `resolve` follows a reference to another schema. */
  constructor(schema: Schema, values: Readonly<Record<string, unknown>> = {}, resolve = (found: Schema) => found) {
    const { properties = {}, required = [] } = resolve(schema);
    this.#fields = Object.entries(properties).map(([name, property]) => {
      const found = resolve(property);
      return { name, schema: found, control: controlOf(found, values[name]) };
    });
    const needed = this.#fields.filter(({ name }) => required.includes(name));
    const others = this.#fields.filter(({ name }) => !required.includes(name));
    for (const { control } of needed) control.required = true;
    this.place.append(...needed.map(labelled), ...others.map(labelled));
  }

  /** Without the fields that are empty. Throws an Error that names a field whose text is not its type. */
  read(): Record<string, unknown> {
    const filled = this.#fields.filter(({ control }) => control.value !== leftOut || control.required);
    return Object.fromEntries(filled.map(({ name, schema, control }) => [name, valueOf(name, schema, control.value)]));
  }
}

let fields = 0;

function labelled({ name, schema, control }: Field): HTMLElement {
  control.id = `field-${++fields}`;
  const label = element('label', {}, name, control.required ? ' (required)' : '');
  label.htmlFor = control.id;
  const { description = '' } = schema;
  return element('div', { class: 'field' }, label, control, element('small', { class: 'note' }, description));
}

function controlOf(schema: Schema, value: unknown): Control {
  const type = typeOf(schema);
  const options = type === 'boolean' ? [true, false] : schema.enum;
  const control = options ? selectOf(options) : element(isShort(type) ? 'input' : 'textarea');
  if (control instanceof HTMLInputElement && type !== 'string') control.inputMode = 'decimal';
  if (schema.default !== undefined && control instanceof HTMLInputElement)
    control.placeholder = JSON.stringify(schema.default);
  if (value !== undefined) control.value = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return control;
}

function selectOf(options: readonly unknown[]): HTMLSelectElement {
  const named = options.map(String);
  return element('select', {}, ...[leftOut, ...named].map((option) => element('option', {}, option)));
}

/** A text of several lines is typed into a field that grows. Lists and objects are written as JSON. */
function isShort(type: string): boolean {
  return type === 'number' || type === 'integer';
}

function typeOf({ type = 'json' }: Schema): string {
  if (typeof type === 'string') return type;
  return type.find((one) => one !== 'null') ?? 'json';
}

function valueOf(name: string, schema: Schema, text: string): unknown {
  const type = typeOf(schema);
  if (type === 'string') return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error(`${name} is not ${type === 'json' ? 'JSON' : `a JSON ${type}`}: ${text.slice(0, 80)}`);
  }
}
