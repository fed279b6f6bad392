/** Bundles the editors of test/clients/editors and shows each in a page. */
import { join } from 'node:path';
import { needPackages } from './interpreters.ts';
import { repositoryRoot } from './sandbox.ts';

const folder = join(repositoryRoot, 'test/clients/editors');

/** The page of an editor: `globalThis.editor` has the text of its model, `text()`, and `undo()`. */
export async function editorPage(name: string): Promise<string> {
  const { js, css } = await bundled(name);
  return `<!doctype html><meta charset=utf-8><title>${name}</title><style>${css}</style><div id=host style="height:200px"></div><script type=module>${js}</script>`;
}

const bundles = new Map<string, Promise<{ js: string; css: string }>>();

async function bundled(name: string): Promise<{ js: string; css: string }> {
  const known = bundles.get(name) ?? bundle(name);
  bundles.set(name, known);
  return await known;
}

async function bundle(name: string): Promise<{ js: string; css: string }> {
  const packages = needPackages('editors');
  const { outputs } = await Bun.build({
    entrypoints: [join(folder, `${name}.js`)],
    target: 'browser',
    minify: true,
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [
      {
        name: 'packages beside the repository',
        setup(build) {
          build.onResolve({ filter: /^[^./]/ }, ({ path, importer }) =>
            importer.startsWith(folder) ? { path: Bun.resolveSync(path, packages) } : undefined,
          );
        },
      },
    ],
  });
  const text = async (extension: string) => (await outputs.find(({ path }) => path.endsWith(extension))?.text()) ?? '';
  // The text stands in a script element of a page.
  return { js: (await text('.js')).replaceAll('</script', '<\\/script'), css: await text('.css') };
}
