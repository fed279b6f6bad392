/** The descriptions of the MCP tools stay small: an agent reads all of them before its first call. */
import { expect, test } from 'bun:test';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import browserTools from '../../spec/browser-mcp-tools.json';
import tools from '../../spec/mcp-tools.json';

const maxTokens = 2500;
const maxBrowserTokens = 3000;

const tokensOf = (all: readonly Pick<(typeof tools)[number], 'name' | 'description' | 'inputSchema'>[]) =>
  encode(JSON.stringify(all.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })))).length;

test('MCP-TOKENS names, descriptions and input schemas take less than 2 500 tokens', () => {
  expect(tokensOf(tools)).toBeLessThan(maxTokens);
});

test('MCP-BROWSER the tools of the browser take less than 3 000 tokens', () => {
  expect(tokensOf(browserTools as unknown as typeof tools)).toBeLessThan(maxBrowserTokens);
});

/** The words of https://ai.google.dev/api/caching#Schema that the tools use; any other word is 400 there. */
const sharedKeywords = new Set(
  'type description properties required items enum default minimum maximum minLength maxLength pattern'.split(' '),
);

test('MCP-SCHEMAS the input schemas have only keywords that the APIs of OpenAI, Anthropic and Gemini all take', () => {
  const keywordsOf = (schema: object): string[] =>
    Object.entries(schema).flatMap(([keyword, value]: [string, object]) => [
      keyword,
      ...(keyword === 'properties' ? Object.values(value).flatMap((inner: object) => keywordsOf(inner)) : []),
      ...(keyword === 'items' ? keywordsOf(value) : []),
    ]);
  for (const { name, inputSchema } of [...tools, ...browserTools]) {
    const foreign = keywordsOf(inputSchema).filter((keyword) => !sharedKeywords.has(keyword));
    expect([name, foreign]).toEqual([name, []]);
    expect(name).toMatch(/^[A-Za-z_][\w-]{0,63}$/);
  }
});

test('MCP-TOKENS the schemas have no references, which not every client resolves', () => {
  expect(JSON.stringify(tools)).not.toContain('$ref');
});
