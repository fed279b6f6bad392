/** All rows in running order: rows that need unused servers come first. */
import { accessibility } from './accessibility.ts';
import { agent } from './agent.ts';
import { agentSandbox } from './agent-sandbox.ts';
import { browser } from './browser.ts';
import { browserMcp } from './browser-mcp.ts';
import { burst } from './burst.ts';
import { busyTerminals } from './busy-terminals.ts';
import { client } from './client.ts';
import { codeCell } from './code-cell.ts';
import { codeMemory } from './code-memory.ts';
import { codeOutput } from './code-output.ts';
import { codeStart } from './code-start.ts';
import { desktop } from './desktop.ts';
import { e2b } from './e2b.ts';
import { exec } from './exec.ts';
import { firstByte } from './first-byte.ts';
import { followersRow } from './followers.ts';
import { grep } from './grep.ts';
import { idle } from './idle.ts';
import { largeFile } from './large-file.ts';
import { many } from './many.ts';
import { mcp } from './mcp.ts';
import { output } from './output.ts';
import { readoption } from './readoption.ts';
import type { Row } from './row.ts';
import { start } from './start.ts';
import { watch } from './watch.ts';
import { terminal } from './terminal.ts';
import { terminals } from './terminals.ts';
import { transfer } from './transfer.ts';
import { tree } from './tree.ts';
import { v1 } from './v1.ts';

export const rows: readonly Row[] = [
  idle,
  e2b,
  agentSandbox,
  agent,
  start,
  exec,
  client,
  burst,
  firstByte,
  output,
  many,
  followersRow,
  readoption,
  watch,
  terminal,
  terminals,
  busyTerminals,
  codeStart,
  codeCell,
  codeOutput,
  codeMemory,
  grep,
  transfer,
  tree,
  largeFile,
  v1,
  browser,
  browserMcp,
  mcp,
  desktop,
  accessibility,
];
