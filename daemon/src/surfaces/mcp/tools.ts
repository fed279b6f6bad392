/** The built-in tools. Their order is public: the list shows them in this order. */
import type { Tool } from './app.ts';
import { browserGetInfo } from './tools/browser-get-info.ts';
import { browserGuiExecuteAction } from './tools/browser-gui-execute-action.ts';
import { browserGuiScreenshot } from './tools/browser-gui-screenshot.ts';
import { executeBash } from './tools/execute-bash.ts';
import { executeCode } from './tools/execute-code.ts';
import { fileOperations } from './tools/file-operations.ts';
import { getContext } from './tools/get-context.ts';
import { getPackages } from './tools/get-packages.ts';
import { loadSkill } from './tools/load-skill.ts';
import { strReplaceEditor } from './tools/str-replace-editor.ts';

export const builtInTools: readonly Tool[] = [
  executeBash,
  executeCode,
  fileOperations,
  strReplaceEditor,
  getContext,
  getPackages,
  loadSkill,
  browserGetInfo,
  browserGuiScreenshot,
  browserGuiExecuteAction,
];
