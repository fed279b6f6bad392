/** The descriptions of the MCP tools stay small: an agent reads all of them before its first call. */
import { expect, test } from 'bun:test';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import tools from '../../spec/mcp-tools.json';

const maxTokens = 2500;

test('MCP-TOKENS names, descriptions and input schemas take less than 2 500 tokens', () => {
  const read = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));

  expect(encode(JSON.stringify(read)).length).toBeLessThan(maxTokens);
});

test('MCP-TOKENS the schemas have no references, which not every client resolves', () => {
  expect(JSON.stringify(tools)).not.toContain('$ref');
});
