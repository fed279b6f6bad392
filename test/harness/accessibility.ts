/** Checks a page with axe, in both themes. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from './sandbox.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Nothing is wider than the window, and axe reports no violation in the light and in the dark theme. */
export async function expectAccessible(page: Page): Promise<void> {
  const root = 'document.documentElement';
  expect(await page.evaluate(`${root}.scrollWidth - ${root}.clientWidth`)).toBe(0);
  await page.evaluate(axe);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const violations = (await page.evaluate('axe.run().then(({ violations }) => violations)')) as Violation[];
    expect(
      violations.map(({ id, nodes }) => `${colorScheme} ${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`),
    ).toEqual([]);
  }
}
