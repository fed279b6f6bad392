/** The accessibility of one desktop: reads the tree, finds nodes, and acts on them. */
import { Deadline } from '../../../kit/deadline.ts';
import type { CallOptions } from '../desktop.ts';
import type { OpenWorker } from '../../../platform/host/workers.ts';
import { focusForTyping, focusNode, invokeNode, setNodeValue, type MakeVariant } from './act.ts';
import type { AccessibilityBus } from './bus.ts';
import { Calls } from './calls.ts';
import { collect, type Collected, type CollectedNode } from './collect.ts';
import { describe } from './describe.ts';
import { noApplications, readFailure } from './failures.ts';
import { filterOf, flat, isEmpty, keepOnly, matching, type Filter } from './filter.ts';
import { foregroundWindows, listApplications, type ActiveWindow } from './foreground.ts';
import type { AccessibleNode, AccessibleTree, NodeQuery, NodeReading, TreeReading } from './query.ts';
import { ObjectReader, type Children } from './reader.ts';
import type { RoleNames } from './role-names.ts';

export interface AccessibilityDeps {
  readonly bus: AccessibilityBus;
  readonly roles: RoleNames;
  readonly openWorker: OpenWorker;
  readonly variant: MakeVariant;
  /** The active window of the display; null when the display does not know. */
  readonly activeWindow: (signal: AbortSignal) => Promise<ActiveWindow | null>;
}

/** Time for an application to do what an action asks. */
const actMs = 5000;

export class Accessibility implements Disposable {
  constructor(private readonly deps: AccessibilityDeps) {}

  /** Why the accessibility bus cannot be used; null when it can. */
  async missing({ signal }: CallOptions): Promise<string | null> {
    try {
      await this.#during(actMs, signal, async () => undefined);
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** The tree of a scope. With criteria, only the matching nodes and their ancestors. */
  async tree(query: NodeQuery, { signal }: CallOptions): Promise<TreeReading> {
    const filter = filterOf(query);
    return await this.#during(query.timeoutMs, signal, async (calls) => {
      const { roots, isTruncated } = await this.#collect(calls, query);
      if (isEmpty(filter)) return await treeOf(calls, roots, isTruncated);
      const found = await this.#matching(calls, roots, filter);
      const wanted = new Set(found.slice(0, query.limit));
      return await treeOf(calls, keepOnly(roots, wanted), isTruncated || found.length > wanted.size);
    });
  }

  /** The matching nodes as a list, at most as many as the query allows. */
  async nodes(query: NodeQuery, { signal }: CallOptions): Promise<NodeReading> {
    const filter = filterOf(query);
    return await this.#during(query.timeoutMs, signal, async (calls) => {
      const { roots, isTruncated } = await this.#collect(calls, query);
      const found = await this.#matching(calls, roots, filter);
      const described = await Promise.all(found.slice(0, query.limit).map(({ object }) => describe(calls, object)));
      const isCut = found.length > described.length || described.some(({ isComplete }) => !isComplete);
      return { nodes: described.map(({ node }) => node), isTruncated: isTruncated || isCut };
    });
  }

  async focus(nodeId: string, { signal }: CallOptions): Promise<void> {
    await this.#during(actMs, signal, (calls) => focusNode(this.#reader(calls), nodeId));
  }

  /** Without a name, invokes the first action. Returns the name of the invoked one. */
  async invoke(nodeId: string, action: string | null, { signal }: CallOptions): Promise<string> {
    return await this.#during(actMs, signal, (calls) => invokeNode(this.#reader(calls), nodeId, action));
  }

  /** False for a text field that takes its text from the keyboard only. The field then has the keyboard. */
  async setValue(nodeId: string, value: string, { signal }: CallOptions): Promise<boolean> {
    return await this.#during(actMs, signal, async (calls) => {
      const reader = this.#reader(calls);
      if (await setNodeValue(reader, nodeId, value, this.deps.variant)) return true;
      await focusForTyping(reader, nodeId, await this.deps.activeWindow(calls.signal));
      return false;
    });
  }

  [Symbol.dispose](): void {
    this.deps.bus[Symbol.dispose]();
  }

  async #during<T>(timeoutMs: number, signal: AbortSignal, work: (calls: Calls) => Promise<T>): Promise<T> {
    using deadline = new Deadline(timeoutMs, signal);
    try {
      return await this.deps.bus.use((connection) => work(new Calls(connection, deadline.signal)));
    } catch (error) {
      throw readFailure(error, 'the application', deadline.passed, timeoutMs);
    }
  }

  /** An application that does not answer takes a part of the time only, so that the others are reported. */
  async #collect(calls: Calls, query: NodeQuery): Promise<Collected> {
    const roots = await calls.part(query.timeoutMs / 4, async (part) => await this.#roots(this.#reader(part), query));
    return await calls.part(query.timeoutMs / 2, async (part) => await collect(this.#reader(part), roots, query));
  }

  async #roots(reader: ObjectReader, { nodeId, scope }: NodeQuery): Promise<Children> {
    if (nodeId !== null) return { objects: [await reader.node(nodeId)], isCut: false };
    if (scope === 'foreground') {
      const active = await this.deps.activeWindow(reader.calls.signal);
      return { objects: await foregroundWindows(reader, active), isCut: false };
    }
    return await applicationsOf(reader);
  }

  #reader(calls: Calls): ObjectReader {
    return new ObjectReader(calls, this.deps.roles);
  }

  async #matching({ signal }: Calls, roots: readonly CollectedNode[], filter: Filter) {
    return await matching(flat(roots), filter, { openWorker: this.deps.openWorker, signal });
  }
}

async function applicationsOf(reader: ObjectReader): Promise<Children> {
  const { calls } = reader;
  const applications = await listApplications(reader);
  const readings = applications.map((each) => calls.inTime(reader.readAlone(each), null));
  const objects = (await Promise.all(readings)).filter((object) => object !== null);
  if (objects.length === 0) throw noApplications();
  return { objects, isCut: objects.length < applications.length };
}

async function treeOf(calls: Calls, roots: readonly CollectedNode[], isTruncated: boolean): Promise<TreeReading> {
  let nodeCount = 0;
  let isComplete = true;
  const build = async ({ object, children }: CollectedNode): Promise<AccessibleTree> => {
    const [described, below] = await Promise.all([describe(calls, object), Promise.all(children.map(build))]);
    nodeCount += 1;
    isComplete &&= described.isComplete;
    const node: AccessibleNode = described.node;
    return { ...node, children: below };
  };
  const trees = await Promise.all(roots.map(build));
  return { roots: trees, nodeCount, isTruncated: isTruncated || !isComplete };
}
