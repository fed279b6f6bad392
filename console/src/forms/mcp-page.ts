/** The page at `#/mcp`: the tools of the MCP server, and at `#/mcp/<tool>` a form that calls one. */
import type { McpAnswer, McpTool, Sandbox } from '../../../clients/typescript/src/index.ts';
import { element } from '../elements.ts';
import { addressOf, type Page } from '../frame/view.ts';
import { AnswerView, picture, scrollable } from './answer-view.ts';
import { SchemaForm } from './schema-form.ts';

export class McpPage implements Page {
  readonly #closing = new AbortController();

  constructor(
    private readonly box: Sandbox,
    private readonly place: HTMLElement,
    private readonly name: string,
  ) {}

  async show(): Promise<void> {
    const { tools } = (await this.box.orThrow.mcp.tools()).data;
    if (this.#closing.signal.aborted) return;
    const tool = tools.find(({ name }) => name === this.name);
    if (tool === undefined && this.name !== '') throw new Error(`This daemon has no tool ${this.name}.`);
    document.title = tool?.name ?? 'MCP';
    this.place.replaceChildren(tool ? this.#form(tool) : list(tools));
  }

  close(): void {
    this.#closing.abort();
  }

  #form({ name, description = '', inputSchema }: McpTool): HTMLElement {
    const fields = new SchemaForm(inputSchema);
    const answer = new AnswerView(this.#closing.signal);
    const form = element('form', {}, fields.place, element('button', { type: 'submit' }, 'Call'));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void answer.show(async (signal) => {
        const called = await this.box.mcp.call(name, fields.read(), { signal });
        return called.ok ? { ok: true, body: parts(called.body.data) } : called;
      });
    });
    return element(
      'main',
      { class: 'home' },
      element('header', {}, element('h1', {}, name)),
      element('p', { class: 'about' }, description),
      form,
      answer.place,
      element('p', {}, element('a', { href: addressOf('mcp') }, 'All tools')),
    );
  }
}

function list(tools: readonly McpTool[]): HTMLElement {
  const rows = tools.map(({ name, description = '' }) => {
    const link = element('a', { href: addressOf('mcp', name) }, name);
    return element('li', {}, element('code', {}, link), ' ', firstSentence(description));
  });
  const hint = 'An agent connects to these tools at /mcp. Tools of other servers stand beside them.';
  const header = element('header', {}, element('h1', {}, 'MCP'));
  return element('main', { class: 'home' }, header, element('p', {}, hint), element('ul', { class: 'rows' }, ...rows));
}

function firstSentence(text: string): string {
  return /^[\s\S]*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text;
}

/** Texts and pictures as a model gets them, then the structured content. */
function parts({ content, structuredContent, isError }: McpAnswer): HTMLElement[] {
  const state = element('p', { class: isError === true ? 'wrong' : 'note' }, isError === true ? 'failed' : 'ok');
  const shown = content.map((part) => {
    if (part.type === 'image' && part.data !== undefined) return picture(bytesOf(part.data));
    return scrollable(part.text ?? JSON.stringify(part, null, 2));
  });
  const structured = structuredContent === undefined ? [] : [scrollable(JSON.stringify(structuredContent, null, 2))];
  return [state, ...shown, ...structured];
}

/** The browser finds out which kind of picture the bytes are. */
function bytesOf(base64: string): Blob {
  return new Blob([Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))]);
}
