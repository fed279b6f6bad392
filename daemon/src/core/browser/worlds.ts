/** Calls the page script in the isolated world of a frame, which scripts of the page cannot see or change. */
import { nullOn } from '../../kit/errno.ts';
import { untilAborted } from '../../kit/shared-work.ts';
import { CdpRefusal } from '../../protocols/cdp-errors.ts';
import { DocumentGone, isAboutDocument } from './failures.ts';
import type { Frame } from './frames.ts';

/** A later session of the same browser finds the world of this name again, and with it the numbers of the elements. */
const worldName = 'boxkeep';

/** The answer of the page script. */
interface ScriptAnswer {
  readonly value?: unknown;
  /** The element has gone, or never existed. */
  readonly isStale?: true;
}

export class Worlds {
  /** By frame and document. */
  readonly #contexts = new Map<string, Promise<number>>();

  /** `script` defines `boxkeep.answer` in the world, unless the world has it already. */
  constructor(private readonly script: string) {}

  /** Calls `boxkeep[name](argument)`, or `boxkeep[name](element, argument)` for the number of an element. */
  async call(
    frame: Frame,
    { name, argument, number }: { readonly name: string; readonly argument: unknown; readonly number?: number },
    signal: AbortSignal,
  ): Promise<ScriptAnswer> {
    const values = [name, argument ?? null, ...(number === undefined ? [] : [number])];
    const expression = `boxkeep.answer(${values.map((value) => JSON.stringify(value)).join(',')})`;
    const contextId = await this.contextOf(frame, signal);
    const { result, exceptionDetails } = await this.#inDocument(() =>
      frame.session.send(
        'Runtime.evaluate',
        { expression, contextId, returnByValue: true, awaitPromise: true },
        signal,
      ),
    );
    if (exceptionDetails) throw new Error(`the page script failed: ${exceptionDetails.exception?.description}`);
    return JSON.parse(String(result.value)) as ScriptAnswer;
  }

  /** The id of an object that the expression evaluates to in the world; null for null. */
  async objectOf(frame: Frame, expression: string, signal: AbortSignal): Promise<string | null> {
    const contextId = await this.contextOf(frame, signal);
    const { result } = await this.#inDocument(() =>
      frame.session.send('Runtime.evaluate', { expression, contextId }, signal),
    );
    return result.objectId ?? null;
  }

  /** The id of a remote object in the world for a node; null when the frame does not have the node. */
  async resolve(
    frame: Frame,
    backendNodeId: number,
    signal: AbortSignal,
    objectGroup?: string,
  ): Promise<string | null> {
    const executionContextId = await this.contextOf(frame, signal);
    const params = { backendNodeId, executionContextId, ...(objectGroup !== undefined && { objectGroup }) };
    const resolved = await nullOn(CdpRefusal, frame.session.send('DOM.resolveNode', params, signal));
    return resolved?.object.objectId ?? null;
  }

  async contextOf(frame: Frame, signal: AbortSignal): Promise<number> {
    const key = `${frame.id}/${frame.loaderId}`;
    let context = this.#contexts.get(key);
    if (!context) {
      context = this.#open(frame);
      this.#contexts.set(key, context);
      context.catch(() => this.#contexts.delete(key)); // The callers get the error; the next call tries again.
    }
    return await untilAborted(context, signal);
  }

  /** Forgets the documents that are not among these frames any more. */
  keepOnly(frames: readonly Frame[]): void {
    const keys = new Set(frames.map(({ id, loaderId }) => `${id}/${loaderId}`));
    for (const key of this.#contexts.keys()) if (!keys.has(key)) this.#contexts.delete(key);
  }

  /** Ends with the session, because several callers may wait for the world. */
  async #open({ id: frameId, session }: Frame): Promise<number> {
    const { executionContextId: contextId } = await this.#inDocument(() =>
      session.send('Page.createIsolatedWorld', { frameId, worldName }),
    );
    const { exceptionDetails } = await this.#inDocument(() =>
      session.send('Runtime.evaluate', { expression: this.script, contextId }),
    );
    if (exceptionDetails) throw new Error(`the page script failed: ${exceptionDetails.exception?.description}`);
    return contextId;
  }

  async #inDocument<T>(send: () => Promise<T>): Promise<T> {
    try {
      return await send();
    } catch (error) {
      if (error instanceof CdpRefusal && isAboutDocument(error.message)) throw new DocumentGone(error.message);
      throw error;
    }
  }
}
