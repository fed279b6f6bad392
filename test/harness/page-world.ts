/** Runs the scripts for pages in an isolated world of a page, as the daemon does. */
import { readFileSync } from 'node:fs';
import type { CDPSession, Page } from 'playwright-core';

const folder = new URL('../../daemon/src/assets/page/', import.meta.url);

export class PageWorld {
  private constructor(
    private readonly session: CDPSession,
    private readonly contextId: number,
  ) {}

  /** `names`: the scripts, in the order in which the daemon evaluates them. */
  static async open(page: Page, names: readonly string[]): Promise<PageWorld> {
    const session = await page.context().newCDPSession(page);
    const { frameTree } = await session.send('Page.getFrameTree');
    const world = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id, worldName: 'boxkeep' });
    const scripts = names.map((name) => readFileSync(new URL(`${name}.js`, folder), 'utf8'));
    const opened = new PageWorld(session, world.executionContextId);
    await opened.evaluate(scripts.map((script) => `{${script}}`).join('\n'));
    return opened;
  }

  /** Calls `boxkeep[name]` with the first element that a selector matches and an argument. */
  async call<T>(selector: string, name: string, argument: object = {}): Promise<T> {
    const element = `document.querySelector(${JSON.stringify(selector)})`;
    return (await this.evaluate(`boxkeep.${name}(${element}, ${JSON.stringify(argument)})`)) as T;
  }

  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.session.send('Runtime.evaluate', {
      expression,
      contextId: this.contextId,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }
}
