/** The behavior of JavaScript and TypeScript in each Node version that an image may have. */
import { execute, outputsOf, run, valueOf } from '../harness/code-client.ts';
import { imageWith, needNodes, nodes } from '../harness/interpreters.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { plantTree } from '../harness/tree.ts';

needNodes();

const modules = {
  'node_modules/both/package.json': '{"exports": {"import": "./module.mjs", "require": "./common.cjs"}}',
  'node_modules/both/module.mjs': 'export const kind = "module"; export default "usual";',
  'node_modules/both/common.cjs': 'exports.kind = "commonjs";',
  'waits.mjs': 'export const value = await Promise.resolve("awaited");',
  'common.cjs': 'module.exports = { value: "common" };',
  'data.json': '{ "value": "data" }',
};

/** The value of a cell of one session, in a directory with these modules. */
const cell = (sandbox: Sandbox) => {
  const cwd = plantTree(`${sandbox.directory}/project`, modules);
  return (code: string) => run(sandbox, { language: 'js', session_id: 'state', code, cwd });
};

const typed = `interface Point { readonly x: number }
const point: Point = { x: 1 };
function same<T>(value: T): T { return value; }
same<number>(point.x) satisfies number`;

for (const { major, directory } of nodes) {
  const image = imageWith(() => [directory]);

  test(
    `CODE-1 in Node ${major}, top-level await works, and code imports and requires modules of every kind`,
    async ({ sandbox }) => {
      const inProject = cell(sandbox);
      const value = async (code: string) => valueOf(await inProject(code));
      expect(await value('process.versions.node.split(".")[0]')).toBe(`'${major}'`);
      expect(await value('const kept = await Promise.resolve(6 * 7); kept')).toBe('42');
      expect(await value('for await (const n of [Promise.resolve(kept)]) console.log(n); await null; kept')).toBe('42');
      expect(await value('import usual, { kind } from "both";\n[usual, kind]')).toBe("[ 'usual', 'module' ]");
      expect(await value('import * as fs from "node:fs";\nfs.existsSync("data.json")')).toBe('true');
      expect(await value('(await import("both")).kind')).toBe("'module'");
      expect(await value('(await import("./waits.mjs")).value')).toBe("'awaited'");
      expect(await value('require("both").kind')).toBe("'commonjs'");
      expect(await value('[require("./common.cjs").value, require("./data.json").value]')).toBe("[ 'common', 'data' ]");
      expect(await value('import common from "./common.cjs";\ncommon.value')).toBe("'common'");
      expect(await value('import data from "./data.json" with { type: "json" };\ndata.value')).toBe("'data'");
      expect(await value('[__dirname, import.meta.dirname].every((path) => path === process.cwd())')).toBe('true');
      const lost = await inProject('import "not-there"');
      expect(lost).toMatchObject({ status: 'error', exit_code: 1 });
      expect(outputsOf(lost).at(-1)?.['evalue']).toContain('not-there');
      await sandbox.ok('DELETE /v2/code/sessions/state');
    },
    image,
  );

  test(
    `CODE-1 in Node ${major}, TypeScript ${major >= 22 ? 'runs as written' : 'is refused with the version it needs'}`,
    async ({ sandbox }) => {
      const { body } = await execute(sandbox, { language: 'js', code: typed });
      if (major >= 22) {
        expect(body).toMatchObject({ success: true, data: { status: 'ok', stderr: '' } });
        expect(valueOf(body.data)).toBe('1');
        return;
      }
      expect(body).toMatchObject({ success: false, data: { status: 'error', exit_code: 1 } });
      const { ename, traceback } = outputsOf(body.data).at(-1) ?? {};
      expect(ename).toBe('SyntaxError');
      expect((traceback as string[]).join('\n')).toMatch(/line 1|:1[^]*If this is TypeScript: node v\d+.*22\.13/);
    },
    image,
  );
}
