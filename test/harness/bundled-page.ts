/** Bundles a script of test/clients with the packages that it names, and shows it in a page. */
import { join } from 'node:path';
import { needPackages } from './interpreters.ts';
import { repositoryRoot } from './sandbox.ts';

/** Files that styles name; a page does without them. */
const fonts = ['.woff', '.woff2', '.ttf', '.eot', '.svg', '.png', '.gif'];
const bundles = new Map<string, Promise<{ js: string; css: string }>>();

/** The page of an editor: `globalThis.editor` has the text of its model, `text()`, and `undo()`. */
export async function editorPage(name: string): Promise<string> {
  return await bundledPage(`editors/${name}.js`, '<div id=host style="height:200px"></div>');
}

/** A page with `body` and the script at a path below test/clients, whose first part names the packages. */
export async function bundledPage(path: string, body = ''): Promise<string> {
  const bundled = bundles.get(path) ?? bundle(path);
  bundles.set(path, bundled);
  const { js, css } = await bundled;
  return `<!doctype html><meta charset=utf-8><title>${path}</title><style>${css}</style><body>${body}<script type=module>${js}</script>`;
}

async function bundle(path: string): Promise<{ js: string; css: string }> {
  const [name = ''] = path.split('/');
  const folder = join(repositoryRoot, 'test/clients', name);
  const packages = needPackages(name);
  const { outputs } = await Bun.build({
    entrypoints: [join(repositoryRoot, 'test/clients', path)],
    target: 'browser',
    minify: true,
    define: {
      'process.env': '{}',
      'process.env.NODE_ENV': '"production"',
      __VUE_OPTIONS_API__: 'true',
      __VUE_PROD_DEVTOOLS__: 'false',
      __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
    },
    jsx: { runtime: 'automatic', development: false },
    loader: Object.fromEntries(fonts.map((extension) => [extension, 'file' as const])),
    plugins: [
      {
        name: 'packages beside the repository',
        setup(build) {
          build.onResolve({ filter: /^[^./]/ }, ({ path: wanted, importer }) =>
            importer.startsWith(folder) ? { path: Bun.resolveSync(wanted, packages) } : undefined,
          );
        },
      },
    ],
  });
  const text = async (extension: string) =>
    (await outputs.find((output) => output.path.endsWith(extension))?.text()) ?? '';
  // The text stands in a script element of a page.
  return { js: (await text('.js')).replaceAll('</script', '<\\/script'), css: await text('.css') };
}
