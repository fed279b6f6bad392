/** Gives cells `require`, `import()` and `import.meta`, as in a file in the current working directory. */
'use strict';
const { Module, createRequire, syncBuiltinESMExports } = require('node:module');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const currentDirectory = process.cwd;

module.exports = () => {
  let known = null;

  /** Returns the loader of the current directory, cached until the directory changes. */
  const here = () => {
    const directory = currentDirectory();
    if (known?.directory === directory) return known;
    const file = join(directory, '[cell]');
    const loader = new Module(file);
    loader.filename = file;
    // Node resolves `import()` relative to the calling module, so a module in this directory makes the call.
    loader._compile('module.exports = (specifier, options) => import(specifier, options);', file);
    known = { directory, url: pathToFileURL(file).href, require: createRequire(file), load: loader.exports };
    return known;
  };

  const main = new Module('.');
  main.loaded = true;
  process.mainModule = main;

  const require = (id) => here().require(id);
  for (const name of ['resolve', 'cache', 'extensions', 'main']) {
    Object.defineProperty(require, name, {
      enumerable: true,
      get: () => (name === 'main' ? main : here().require[name]),
    });
  }
  const define = (name, descriptor) => Object.defineProperty(globalThis, name, { configurable: true, ...descriptor });
  define('require', { writable: true, value: require });
  define('module', { writable: true, value: main });
  define('exports', { writable: true, value: main.exports });
  define('__dirname', { get: currentDirectory, set: replace('__dirname') });
  define('__filename', { get: () => join(currentDirectory(), '[cell]'), set: replace('__filename') });
  define('__importMeta', {
    get: () => ({
      url: here().url,
      dirname: currentDirectory(),
      filename: join(currentDirectory(), '[cell]'),
      main: true,
      resolve: (specifier) => pathToFileURL(here().require.resolve(specifier)).href,
    }),
  });
  // Named imports from built-in modules must also see the functions that the interpreter has replaced.
  syncBuiltinESMExports();

  // Older versions of Node accept only `assert`, the former name of `with`.
  const load = (specifier, options) =>
    here().load(specifier, options?.with ? { assert: options.with, ...options } : options);
  define('__import', { value: load });
  return load;
};

function replace(name) {
  return (value) => Object.defineProperty(globalThis, name, { configurable: true, writable: true, value });
}
