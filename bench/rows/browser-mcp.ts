/** Measures MCP servers of a browser: a click, a snapshot, and a task of ten steps with the tokens that it costs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Chromium } from '../../test/harness/chromium.ts';
import { startSite, type Site } from '../../test/harness/site.ts';
import { TestSite } from '../../test/harness/test-site.ts';
import { atMost } from '../measurement.ts';
import { browserToolsPeers, type BrowserTools } from '../peers/browser-tools.ts';
import { inTurns, timed } from '../turns.ts';
import type { Row } from './row.ts';

const rounds = 5;
const clicksInTurn = 10;
const rivals = ['browser-mcp', 'playwright-mcp', 'chrome-devtools-mcp'];
const rivalsInTokens = ['playwright-mcp', 'chrome-devtools-mcp'];

export const browserMcp: Row = {
  name: 'browser-mcp',
  async measure(field) {
    using pages = new TestSite();
    const shop = orderSite();
    try {
      await using stack = new AsyncDisposableStack();
      const servers: BrowserTools[] = [];
      for (const { name, open } of browserToolsPeers) {
        const { port } = stack.use(await Chromium.start());
        servers.push(stack.use(await open({ port, limit: field.limitFor(name) }, field)));
      }
      const clicks = await inTurns(servers, rounds, async (server) => {
        await server.navigate(pages.page('parts/counter'));
        await server.snapshot();
        return await timed(clicksInTurn, () => server.click('button', 'Count'));
      });
      for (const server of servers) await server.navigate(pages.page('five-thousand'));
      const snapshots = await inTurns(servers, rounds, (server) => timed(1, () => server.snapshot()));
      const tokens: Record<string, number[]> = {};
      const tasks = await inTurns(servers, rounds, (server) =>
        timed(1, () => order(server, shop.url('/order'), (tokens[server.name] ??= []))),
      );
      const first = rivals.map((name) => atMost(1, name));
      return [
        { title: 'MCP of a browser: click', unit: 'ms' as const, goals: first, samples: clicks },
        {
          title: 'MCP of a browser: snapshot of 5 000 elements',
          unit: 'ms' as const,
          goals: first,
          samples: snapshots,
        },
        { title: 'MCP of a browser: ten steps in a shop', unit: 'ms' as const, goals: first, samples: tasks },
        {
          title: 'its calls and answers',
          unit: 'tokens' as const,
          goals: rivalsInTokens.map((name) => atMost(0.5, name)),
          samples: tokens,
        },
      ];
    } finally {
      shop.stop();
    }
  },
};

const dishes = ['Soup', 'Bread', 'Salad', 'Pasta', 'Cake', 'Tea'];

/** The page of examples/order, with labels that every server shows. */
function orderSite(): Site {
  const template = readFileSync(join(import.meta.dirname, '../../examples/order/page.html'), 'utf8');
  const rows = dishes.map(
    (dish, index) =>
      `<p><label>${dish} <input aria-label="${dish}" type="number" min="0" value="0" data-price="${index + 2}.50"></label></p>`,
  );
  const page = template
    .replace('{{menu}}', rows.join('\n'))
    .replace('<input name="name"', '<input aria-label="Name" name="name"')
    .replace('<select name="time"', '<select aria-label="Pick up" name="time"');
  return startSite({ '/order': () => new Response(page, { headers: { 'content-type': 'text/html; charset=utf-8' } }) });
}

/** Ten steps: load, seven fields, a choice, and the order, whose confirmation the model reads. */
async function order(server: BrowserTools, url: string, tokens: number[]): Promise<void> {
  const before = server.tokens;
  await server.navigate(url);
  await server.fill('textbox', 'Name', 'Ada');
  for (const [index, dish] of dishes.entries()) await server.fill('spinbutton', dish, String(index + 1));
  await server.fill('combobox', 'Pick up', 'in an hour');
  await server.click('button', 'Order');
  // A model whose last answer does not show the page looks at the page.
  if (!server.seen.includes('Thank you, Ada')) await server.snapshot();
  if (!server.seen.includes('Thank you, Ada'))
    throw new Error(`${server.name} does not show the order: ${server.seen}`);
  tokens.push(server.tokens - before);
}
