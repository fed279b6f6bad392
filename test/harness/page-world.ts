/** Runs the scripts for pages in an isolated world of a page, as the daemon does. */
import { readFileSync } from 'node:fs';
import type { CDPSession, Page } from 'playwright-core';

/** `[depth, role, name, number, value, states, kind]` of a node; kind 1: interactive, 2: frame. */
export type Row = readonly [number, string, string, number, string | null, readonly string[], number];

const folder = new URL('../../daemon/src/assets/page/', import.meta.url);

export class PageWorld {
  private constructor(
    readonly session: CDPSession,
    readonly contextId: number,
  ) {}

  /** `names`: the scripts, in the order in which the daemon evaluates them. */
  static async open(page: Page, names: readonly string[]): Promise<PageWorld> {
    const scripts = names.map((name) => readFileSync(new URL(`${name}.js`, folder), 'utf8'));
    return await PageWorld.with(page, scripts.map((script) => `{${script}}`).join('\n'));
  }

  /** A world with this script. */
  static async with(page: Page, script: string): Promise<PageWorld> {
    const session = await page.context().newCDPSession(page);
    const { frameTree } = await session.send('Page.getFrameTree');
    const world = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id, worldName: 'boxkeep' });
    const opened = new PageWorld(session, world.executionContextId);
    await opened.evaluate(script);
    return opened;
  }

  /** Calls `boxkeep[name]` with the first element that a selector matches and an argument. */
  async call<T>(selector: string, name: string, argument: object = {}): Promise<T> {
    const element = `document.querySelector(${JSON.stringify(selector)})`;
    return await this.evaluate(`boxkeep.${name}(${element}, ${JSON.stringify(argument)})`);
  }

  /** The nodes of a snapshot of the page. */
  async rows(options = ''): Promise<readonly Row[]> {
    const limits = 'maxNodes: 100_000, maxCharacters: 10_000_000, maxMs: 5000';
    return (await this.evaluate<{ rows: Row[] }>(`boxkeep.snapshot({${limits}, ${options}})`)).rows;
  }

  async evaluate<T = unknown>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await this.session.send('Runtime.evaluate', {
      expression,
      contextId: this.contextId,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value as T;
  }
}
