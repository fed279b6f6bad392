/** The descriptions of the MCP tools stay small: an agent reads all of them before its first call. */
import { expect, test } from 'bun:test';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import tools from '../../spec/mcp-tools.json';

const maxTokens = 2500;

test('MCP-TOKENS names, descriptions and input schemas take less than 2 500 tokens', () => {
  const read = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));

  expect(encode(JSON.stringify(read)).length).toBeLessThan(maxTokens);
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
  for (const { name, inputSchema } of tools) {
    const foreign = keywordsOf(inputSchema).filter((keyword) => !sharedKeywords.has(keyword));
    expect([name, foreign]).toEqual([name, []]);
    expect(name).toMatch(/^[A-Za-z_][\w-]{0,63}$/);
  }
});

test('MCP-TOKENS the schemas have no references, which not every client resolves', () => {
  expect(JSON.stringify(tools)).not.toContain('$ref');
});
