/** Reads snapshots of a page as a client does, and finds nodes in them. */
import type { SnapshotNode } from '../../clients/typescript/src/wire.ts';
import type { Json, Sandbox } from './sandbox.ts';

export type { SnapshotNode };

/** A client of the browser routes under one prefix. */
export class SnapshotClient {
  constructor(
    private readonly sandbox: Sandbox,
    private readonly prefix: string,
  ) {}

  async navigate(url: string): Promise<void> {
    await this.sandbox.ok(`POST ${this.prefix}/browser/navigate`, { url });
  }

  async evaluate(expression: string): Promise<Json> {
    return (await this.sandbox.ok(`POST ${this.prefix}/browser/evaluate`, { expression }))['value'];
  }

  async tree(body: object = {}): Promise<SnapshotNode> {
    return (await this.sandbox.ok(`POST ${this.prefix}/browser/snapshot`, body)) as unknown as SnapshotNode;
  }

  async text(body: object = {}): Promise<string> {
    return (await this.sandbox.ok(`POST ${this.prefix}/browser/snapshot`, {
      ...body,
      format: 'text',
    })) as unknown as string;
  }

  /** The whole envelope. */
  async answer(body: object = {}): Promise<{ status: number; body: Json }> {
    return await this.sandbox.request(`POST ${this.prefix}/browser/snapshot`, body);
  }
}

export function nodesOf(node: SnapshotNode): SnapshotNode[] {
  return [node, ...node.children.flatMap(nodesOf)];
}

/** The first node of a role and name. */
export function nodeOf(root: SnapshotNode, role: string, name: string): SnapshotNode {
  const found = nodesOf(root).find((node) => node.role === role && node.name === name);
  if (!found) throw new Error(`no ${role} ${JSON.stringify(name)} in ${JSON.stringify(root)}`);
  return found;
}

/** The lines of a text without the refs in them. */
export function withoutRefs(text: string): string[] {
  return text.split('\n').map((line) => line.replace(/ \[ref=e\d+-[0-9a-z]{5}\]/, ''));
}
