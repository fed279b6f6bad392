/** Acts on pages of a running browser through a daemon, as a client of the browser routes. */
import type { EnvelopeBody, Json, Reply, Sandbox } from './sandbox.ts';
import type { Site } from './site.ts';

/** A page whose document is in its query, for `startSite`. `delay` holds it back by milliseconds. */
export const pageHandlers = {
  '/page': async ({ searchParams }: URL) => {
    await Bun.sleep(Number(searchParams.get('delay') ?? 0));
    const title = searchParams.get('title') ?? 'Page';
    return new Response(`<!doctype html><title>${title}</title>${searchParams.get('html') ?? ''}`, {
      headers: { 'content-type': 'text/html; charset=utf-8' },
    });
  },
  '/file': () => new Response('content', { headers: { 'content-disposition': 'attachment; filename="a.txt"' } }),
};

export function pathOf(html: string, fields: Readonly<Record<string, string>> = {}): string {
  return `/page?${new URLSearchParams({ html, ...fields }).toString()}`;
}

/** A frame for the document of a page. */
export function frameOf(url: string, style = ''): string {
  return `<iframe src="${url.replaceAll('"', '&quot;')}" style="${style}"></iframe>`;
}

export class ActionClient {
  constructor(
    private readonly sandbox: Sandbox,
    private readonly prefix: string,
    private readonly site: Site,
  ) {}

  /** Shows a document with this body. */
  async open(html: string): Promise<void> {
    await this.act('navigate', { url: this.site.url(pathOf(html)) });
  }

  async act(verb: string, body: object): Promise<Json> {
    return await this.sandbox.ok(`POST ${this.prefix}/browser/${verb}`, body);
  }

  async list(what: 'tabs'): Promise<Json[]> {
    return (await this.sandbox.ok(`GET ${this.prefix}/browser/${what}`)) as unknown as Json[];
  }

  async close(tabId: string): Promise<void> {
    await this.sandbox.ok(`DELETE ${this.prefix}/browser/tabs/${tabId}`);
  }

  async refusal(verb: string, body: object): Promise<Reply<EnvelopeBody>> {
    return await this.sandbox.request(`POST ${this.prefix}/browser/${verb}`, body);
  }

  /** The ref of the first element that a snapshot finds, in whatever frame. */
  async ref(find: { readonly role?: string; readonly name?: string; readonly text?: string }): Promise<string> {
    const { matches } = await this.act('snapshot', { find });
    const ref = matches.find((match: Json) => match.ref !== null)?.ref;
    if (ref === undefined) throw new Error(`nothing has a ref for ${JSON.stringify(find)}`);
    return ref;
  }

  async click(find: { readonly role?: string; readonly name?: string }, body: object = {}): Promise<Json> {
    return await this.act('click', { ref: await this.ref(find), ...body });
  }

  async value(expression: string): Promise<Json> {
    return (await this.act('evaluate', { expression })).value;
  }
}
