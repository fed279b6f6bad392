/** Marks the elements of a page that listen for clicks, which a script in an isolated world cannot see. */
import type { CdpResult } from '../../../platform/clients/cdp-connection.ts';
import type { Frame } from '../frames.ts';
import type { Worlds } from '../worlds.ts';

type Listener = CdpResult<'DOMDebugger.getEventListeners'>['listeners'][number];

interface Known {
  /** The remote object of the document in the page's own world. */
  readonly documentId: string;
  readonly nodes: Set<number>;
}

const clickEvents = new Set(['click', 'mousedown', 'mouseup', 'pointerdown', 'pointerup', 'touchstart', 'dblclick']);
/** An element that listens for more kinds of events is the root of a framework, which listens for all its elements. */
const maxEventTypes = 15;
/** New elements that one snapshot looks up; the next snapshot looks up the rest. */
const maxLookups = 256;
const objectGroup = 'boxkeep-clickables';

export class Clickables {
  /** By frame and document. */
  readonly #known = new Map<string, Known>();

  constructor(private readonly worlds: Worlds) {}

  /** Returns how many elements with listeners are left for the next snapshot. */
  async mark(frame: Frame, signal: AbortSignal): Promise<number> {
    const known = await this.#knownOf(frame, signal);
    if (known === null) return 0;
    const params = { objectId: known.documentId, depth: -1, pierce: true };
    const { listeners } = await frame.session.send('DOMDebugger.getEventListeners', params, signal);
    const found = clickableIds(listeners).filter((id) => !known.nodes.has(id));
    const looked = found.slice(0, maxLookups);
    if (looked.length === 0) return 0;
    await this.#markAll(frame, looked, signal);
    for (const id of looked) known.nodes.add(id);
    return found.length - looked.length;
  }

  async #knownOf(frame: Frame, signal: AbortSignal): Promise<Known | null> {
    const key = `${frame.id}/${frame.loaderId}`;
    const known = this.#known.get(key);
    if (known) return known;
    for (const other of this.#known.keys()) if (other.startsWith(`${frame.id}/`)) this.#known.delete(other);
    const documentId = await this.worlds.objectOf(frame, 'document', signal);
    if (documentId === null) return null;
    // With an object of an isolated world, Chromium 156 crashes after some dozen calls on a page with many listeners.
    const { node } = await frame.session.send('DOM.describeNode', { objectId: documentId }, signal);
    const { object } = await frame.session.send('DOM.resolveNode', { backendNodeId: node.backendNodeId }, signal);
    if (object.objectId === undefined) return null;
    frame.session.tell('Runtime.releaseObject', { objectId: documentId });
    const created = { documentId: object.objectId, nodes: new Set<number>() };
    this.#known.set(key, created);
    return created;
  }

  async #markAll(frame: Frame, ids: readonly number[], signal: AbortSignal): Promise<void> {
    const { session } = frame;
    const executionContextId = await this.worlds.contextOf(frame, signal);
    // Null for a node of a frame within this one, and for one that has just gone.
    const resolved = await Promise.all(ids.map((id) => this.worlds.resolve(frame, id, signal, objectGroup)));
    const objects = resolved.filter((objectId) => objectId !== null);
    const functionDeclaration =
      'function(...nodes){for(const node of nodes)if(node.nodeType===1)boxkeep.markClickable(node)}';
    const args = objects.map((objectId) => ({ objectId }));
    await session.send('Runtime.callFunctionOn', { functionDeclaration, executionContextId, arguments: args }, signal);
    session.tell('Runtime.releaseObjectGroup', { objectGroup });
  }
}

function clickableIds(listeners: readonly Listener[]): number[] {
  const types = new Map<number, Set<string>>();
  for (const { type, backendNodeId } of listeners) {
    if (backendNodeId === undefined) continue;
    types.getOrInsertComputed(backendNodeId, () => new Set()).add(type);
  }
  const isClickable = (events: ReadonlySet<string>) =>
    events.size <= maxEventTypes && !events.isDisjointFrom(clickEvents);
  return [...types].flatMap(([id, events]) => (isClickable(events) ? [id] : []));
}
