/** Finds closed shadow roots of a document and lends them to the page script, which has no access to them. */
import { CdpRefusal } from '../../../protocols/cdp-errors.ts';
import type { Frame } from '../frames.ts';
import type { Page } from '../page.ts';

const objectGroup = 'boxkeep-roots';

/**
 * Looks at the elements that the page script has noted, and at those in the roots that it finds, until all have been
 * looked at or the time is over. True when one of them had a closed root.
 */
export async function revealRoots(page: Page, frame: Frame, endMs: number, signal: AbortSignal): Promise<boolean> {
  const contextId = await page.worlds.contextOf(frame, signal);
  let hasFound = false;
  for (let isDone = false; !isDone && performance.now() < endMs;) {
    const hosts = await notedElements(frame, contextId, signal);
    const found = await Promise.all(hosts.map((host) => revealRoot(frame, contextId, host, signal)));
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

async function revealRoot(
  { session }: Frame,
  executionContextId: number,
  host: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const { node } = await session.send('DOM.describeNode', { objectId: host }, signal);
    const root = node.shadowRoots?.find(({ shadowRootType }) => shadowRootType === 'closed');
    if (!root) return false;
    const { backendNodeId } = root;
    const { object } = await session.send(
      'DOM.resolveNode',
      { backendNodeId, executionContextId, objectGroup },
      signal,
    );
    const functionDeclaration = 'function(host,root){boxkeep.rememberRoot(host,root)}';
    const args = [{ objectId: host }, { objectId: object.objectId! }];
    await session.send('Runtime.callFunctionOn', { functionDeclaration, executionContextId, arguments: args }, signal);
    return true;
  } catch (error) {
    if (error instanceof CdpRefusal) return false; // The element has just gone.
    throw error;
  }
}
