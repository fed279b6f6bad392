/** The page at `#/api`: every route of this daemon, and at `#/api/<operation>` a form that calls one. */
import type { Sandbox } from '../../../clients/typescript/src/index.ts';
import { element } from '../elements.ts';
import { copyable } from '../frame/copyable.ts';
import { addressOf, type Page } from '../frame/view.ts';
import { AnswerView } from './answer-view.ts';
import { curlOf } from './curl.ts';
import { readDescription, type ApiRoute, type Description, type Schema } from './description.ts';
import { SchemaForm } from './schema-form.ts';

export class ApiPage implements Page {
  readonly #closing = new AbortController();

  constructor(
    private readonly box: Sandbox,
    private readonly place: HTMLElement,
    private readonly operation: string,
  ) {}

  async show(): Promise<void> {
    const read = await readDescription(this.box);
    if (!read.ok) throw read.error;
    if (this.#closing.signal.aborted) return;
    const { body: description } = read;
    const route = description.routes.find(({ operation }) => operation === this.operation);
    if (route === undefined && this.operation !== '')
      throw new Error(`This daemon has no operation ${this.operation}.`);
    document.title = route ? `${route.method} ${route.path}` : 'API';
    this.place.replaceChildren(route ? this.#form(route, description) : list(description.routes));
  }

  close(): void {
    this.#closing.abort();
  }

  #form(route: ApiRoute, description: Description): HTMLElement {
    const { method, path, summary, operation, takesBytes, isSocket } = route;
    const heading = element('h1', {}, element('code', {}, `${method} ${path}`));
    const about = element('p', {}, summary, element('span', { class: 'note' }, ` ${operation}`));
    const main = element('main', { class: 'home' }, element('header', {}, heading), about);
    if (isSocket || takesBytes) {
      main.append(
        element('p', { class: 'note' }, isSocket ? 'A WebSocket has no form.' : 'A body of bytes has no form.'),
      );
    } else main.append(...this.#parts(route, description));
    main.append(element('p', {}, element('a', { href: addressOf('api') }, 'All routes')));
    return main;
  }

  #parts({ operation, method, path, parameters, body }: ApiRoute, { resolve }: Description): Node[] {
    const inPath = formOfParameters(parameters.filter((parameter) => parameter.in === 'path'));
    const inQuery = formOfParameters(parameters.filter((parameter) => parameter.in === 'query'));
    const inBody = body && bodyForm(body, resolve);
    const input = () => ({
      path: inPath.read(),
      query: inQuery.read(),
      ...(inBody && { body: inBody.read() }),
    });
    const answer = new AnswerView(this.#closing.signal);
    const curl = element('div');
    const send = element('button', { type: 'submit' }, 'Send');
    const form = element('form', {}, inPath.place, inQuery.place, ...(inBody ? [inBody.place] : []), send, ' ');
    const showCurl = () => {
      const { path: names, query, body: content = null } = input();
      const url = `${this.box.address}${filled(path, names)}${queryOf(query)}`;
      curl.replaceChildren(copyable('curl', curlOf({ method, url, body: content })));
    };
    form.append(element('button', { type: 'button', onClick: () => answer.showFailure(showCurl) }, 'As curl'));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void answer.show(async (signal) => await this.box.open(operation, input(), { signal }));
    });
    return [form, curl, answer.place];
  }
}

/** A body that is no object is written as JSON, with the example of the description. */
function bodyForm(
  { schema, example }: NonNullable<ApiRoute['body']>,
  resolve: Description['resolve'],
): { readonly place: HTMLElement; read(): unknown } {
  const found = resolve(schema);
  if (found.properties !== undefined)
    return new SchemaForm(found, required(found, example as Readonly<Record<string, unknown>>), resolve);
  const form = new SchemaForm({ properties: { body: {} }, required: ['body'] }, { body: example });
  return { place: form.place, read: () => form.read()['body'] };
}

/** Examples of optional fields would change what the route does. */
function required({ required = [] }: Schema, example: Readonly<Record<string, unknown>> = {}) {
  return Object.fromEntries(Object.entries(example).filter(([name]) => required.includes(name)));
}

function formOfParameters(parameters: ApiRoute['parameters']): SchemaForm {
  const properties = parameters.map(({ name, schema, description = '' }) => [name, { ...schema, description }]);
  const required = parameters.filter((parameter) => parameter.required === true);
  const examples = required.map(({ name, example }) => [name, example]);
  const schema = { properties: Object.fromEntries(properties) as Record<string, Schema> };
  return new SchemaForm({ ...schema, required: required.map(({ name }) => name) }, Object.fromEntries(examples));
}

function list(routes: readonly ApiRoute[]): HTMLElement {
  const search = element('input', { type: 'search', placeholder: 'Search', label: 'Search' });
  const rows = routes.toSorted((one, other) => one.path.localeCompare(other.path)).map(row);
  search.addEventListener('input', () => {
    const words = search.value.toLowerCase().split(/\s+/);
    for (const shown of rows) shown.hidden = !words.every((word) => shown.textContent.toLowerCase().includes(word));
  });
  const header = element('header', {}, element('h1', {}, 'API'), search);
  return element('main', { class: 'home' }, header, element('ul', { class: 'rows' }, ...rows));
}

function row({ operation, method, path, summary }: ApiRoute): HTMLElement {
  const link = element('a', { href: addressOf('api', operation) }, `${method} ${path}`);
  return element('li', {}, element('code', {}, link), ' ', summary);
}

function filled(template: string, values: Readonly<Record<string, unknown>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
}

function queryOf(values: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams(Object.entries(values).map(([name, value]) => [name, String(value)]));
  return query.size === 0 ? '' : `?${query.toString()}`;
}
