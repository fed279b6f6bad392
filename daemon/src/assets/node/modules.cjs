/** `require`, `import` and their relatives, as in a file in the working directory, wherever that is by now. */
'use strict';
const { Module, createRequire, syncBuiltinESMExports } = require('node:module');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const currentDirectory = process.cwd;

module.exports = () => {
  let known = null;

  /** For code in this directory. Found again only where the directory is another one. */
  const here = () => {
    const directory = currentDirectory();
    if (known?.directory === directory) return known;
    const file = join(directory, '[cell]');
    const loader = new Module(file);
    loader.filename = file;
    // Code of a module, because what that imports is looked up beside it.
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
  // What is imported by name from modules of Node is also what we have put in the place of some functions.
  syncBuiltinESMExports();

  // The older ones know the option by its first name only.
  const load = (specifier, options) =>
    here().load(specifier, options?.with ? { assert: options.with, ...options } : options);
  define('__import', { value: load });
  return load;
};

function replace(name) {
  return (value) => Object.defineProperty(globalThis, name, { configurable: true, writable: true, value });
}
