/** The built-in tools of `POST /mcp`. */
import type { ToolSet } from './app.ts';
import { naming } from './refusal.ts';
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

export const builtInTools: ToolSet = {
  name: 'boxkeep',
  instructions:
    'Tools of one sandbox. sandbox_execute_bash keeps its directory and variables between calls. ' +
    'Call sandbox_get_context for what is installed, and sandbox_load_skill for instructions that the image offers.',
  naming,
  tools: [
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
  ],
};
