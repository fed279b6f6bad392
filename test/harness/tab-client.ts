/** Uses a tab of a browser through the daemon as an agent does: it reads snapshots and acts on refs. */
import { expect, type EnvelopeBody, type Json, type JsonObject, type Reply, type Sandbox } from './sandbox.ts';
import { until } from './until.ts';

/** A node of a snapshot. */
export interface SnapshotNode {
  readonly role: string;
  readonly name: string;
  readonly ref?: string;
  readonly value?: string;
  readonly children?: readonly SnapshotNode[];
}

/** What a task on a page needs of a tab. */
export interface TaskTab {
  navigate(url: string, options?: object): Promise<JsonObject>;
  snapshot(options?: object): Promise<SnapshotNode>;
  ref(name: string, role?: string): Promise<string>;
  click(name: string, role?: string, options?: object): Promise<JsonObject>;
  clickRef(ref: string, options?: object): Promise<JsonObject>;
  hover(name: string, role?: string): Promise<JsonObject>;
  fill(name: string, value: string, role?: string): Promise<JsonObject>;
  upload(name: string, paths: readonly string[]): Promise<JsonObject>;
  value(expression: string): Promise<Json>;
  request(route: string, body: JsonObject): Promise<Json>;
  /** A tab that the page has opened. */
  in(tabId: string): TaskTab;
  untilDone(): Promise<void>;
}

const wholeBytes = 4_000_000;

export class TabClient implements TaskTab, AsyncDisposable {
  private constructor(
    private readonly sandbox: Sandbox,
    readonly tabId: string,
  ) {}

  /** Opens a tab, which closes with the client. */
  static async open(sandbox: Sandbox): Promise<TabClient> {
    const tab = await sandbox.ok('POST /v2/browser/tabs', {});
    return new TabClient(sandbox, tab['tab_id'] as string);
  }

  /** A client for a tab that the page has opened. */
  in(tabId: string): TabClient {
    return new TabClient(this.sandbox, tabId);
  }

  navigate(url: string, options: object = {}): Promise<JsonObject> {
    return this.ok('navigate', { url, ...options });
  }

  /** The whole page, also where it is larger than a snapshot is by default. */
  async snapshot(options: object = {}): Promise<SnapshotNode> {
    return (await this.ok('snapshot', { max_bytes: wholeBytes, ...options })) as unknown as SnapshotNode;
  }

  /** The ref of the element with this name and role. Waits until a snapshot contains the element. */
  async ref(name: string, role?: string): Promise<string> {
    let found: SnapshotNode | undefined;
    let nodes: SnapshotNode[] = [];
    await until(`a snapshot has ${role ?? 'an element'} "${name}"`, async () => {
      nodes = [...nodesOf(await this.snapshot())];
      found = nodes.find((node) => node.ref && node.name === name && (role ? role === node.role : !isText(node)));
      return found !== undefined;
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}; it has ${nodes.map((node) => `${node.role} "${node.name}"`).join(', ')}`);
    });
    return found?.ref ?? '';
  }

  /** Clicks the element with this name and role. */
  async click(name: string, role?: string, options: object = {}): Promise<JsonObject> {
    return this.clickRef(await this.ref(name, role), options);
  }

  clickRef(ref: string, options: object = {}): Promise<JsonObject> {
    return this.ok('click', { ref, ...options });
  }

  /** Moves the pointer over the element and does not press a button. */
  hover(name: string, role?: string): Promise<JsonObject> {
    return this.click(name, role, { hover: true });
  }

  async fill(name: string, value: string, role?: string): Promise<JsonObject> {
    return this.ok('fill', { ref: await this.ref(name, role), value });
  }

  async upload(name: string, paths: readonly string[]): Promise<JsonObject> {
    return this.ok('upload', { ref: await this.ref(name), paths });
  }

  /** The value of an expression in the main document. */
  async value(expression: string): Promise<Json> {
    return (await this.ok('evaluate', { expression }))['value'];
  }

  /** Resolves when the page reports that its task is done. */
  async untilDone(): Promise<void> {
    let result: Json = null;
    const isDone = async () => (result = await this.value('window.result')) === 'done';
    await until('the task is done', isDone).catch((error: unknown) => {
      throw new Error(`${String(error)}; the page says: ${result}`);
    });
  }

  /** The picture of the page as PNG. */
  async screenshot(): Promise<ArrayBuffer> {
    const response = await this.sandbox.fetch(`GET /v2/browser/screenshot?tab_id=${this.tabId}`);
    expect(response.status).toBe(200);
    return response.arrayBuffer();
  }

  /** The whole answer of a route, whether it succeeds or not. */
  request(route: string, body: object): Promise<Reply<EnvelopeBody>> {
    return this.sandbox.request(`POST /v2/browser/${route}`, { tab_id: this.tabId, ...body });
  }

  private ok(route: string, body: object): Promise<JsonObject> {
    return this.sandbox.ok(`POST /v2/browser/${route}`, { tab_id: this.tabId, ...body });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sandbox.ok(`DELETE /v2/browser/tabs/${this.tabId}`);
  }
}

/** The text of a label often equals the name of its field. */
function isText({ role }: SnapshotNode): boolean {
  return /^(?:static|label)?text$/i.test(role);
}

/** A node and its descendants, in the order of the document. */
export function* nodesOf(node: SnapshotNode): Generator<SnapshotNode> {
  yield node;
  for (const child of node.children ?? []) yield* nodesOf(child);
}
