/** Finds closed shadow roots of a document and lends them to the page script, which has no access to them. */
import { CdpRefusal } from '../../../protocols/cdp-errors.ts';
import type { Frame } from '../frames.ts';
import type { Worlds } from '../worlds.ts';

const objectGroup = 'boxkeep-roots';

/**
 * Looks at the elements that the page script has noted, and at those in the roots that it finds, until all have been
 * looked at or the time is over. True when one of them had a closed root.
 */
export async function revealRoots(worlds: Worlds, frame: Frame, endMs: number, signal: AbortSignal): Promise<boolean> {
  const contextId = await worlds.contextOf(frame, signal);
  let hasFound = false;
  for (let isDone = false; !isDone && performance.now() < endMs;) {
    const hosts = await notedElements(frame, contextId, signal);
    const found = await Promise.all(hosts.map((host) => revealRoot(worlds, frame, host, signal)));
    isDone = !found.includes(true);
    hasFound ||= !isDone;
    frame.session.tell('Runtime.releaseObjectGroup', { objectGroup });
  }
  return hasFound;
}

/** The remote objects of the noted elements. */
async function notedElements({ session }: Frame, contextId: number, signal: AbortSignal): Promise<string[]> {
  const expression = 'boxkeep.takeCandidates()';
  const { result: list } = await session.send('Runtime.evaluate', { expression, contextId, objectGroup }, signal);
  if (list.objectId === undefined) return [];
  const params = { objectId: list.objectId, ownProperties: true };
  const { result } = await session.send('Runtime.getProperties', params, signal);
  return result.flatMap(({ name, value }) => (/^\d+$/.test(name) && value?.objectId ? [value.objectId] : []));
}

async function revealRoot(worlds: Worlds, frame: Frame, host: string, signal: AbortSignal): Promise<boolean> {
  const { session } = frame;
  try {
    const { node } = await session.send('DOM.describeNode', { objectId: host }, signal);
    const root = node.shadowRoots?.find(({ shadowRootType }) => shadowRootType === 'closed');
    const objectId = root && (await worlds.resolve(frame, root.backendNodeId, signal, objectGroup));
    if (!objectId) return false;
    const functionDeclaration = 'function(root){boxkeep.rememberRoot(this,root)}';
    const params = { objectId: host, functionDeclaration, arguments: [{ objectId }] };
    await session.send('Runtime.callFunctionOn', params, signal);
    return true;
  } catch (error) {
    if (error instanceof CdpRefusal) return false; // The element has just gone.
    throw error;
  }
}
