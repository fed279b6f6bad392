/**
 * Who may import whom: the table of ARCHITECTURE.md ("Layers") as rules. A new edge between folders is a change of
 * the architecture, so it changes this file and gets a review of its own.
 *
 * Tests beside the sources are free to build real things, so the rules look at everything but `*.test.ts`.
 */
'use strict';

const src = '^daemon/src/';
const npm = ['npm', 'npm-dev', 'npm-optional', 'npm-peer', 'npm-bundled', 'npm-no-pkg', 'npm-unknown', 'unknown'];
const outsideWorld =
  '^(node:)?(child_process|cluster|dgram|dns|http|http2|https|inspector|net|tls|worker_threads)(/|$)|^bun($|:)';

/** A rule about the shipped sources of one layer. */
const layer = (name, comment, from, to) => ({
  name,
  comment,
  severity: 'error',
  from: { path: src + from, pathNot: '[.]test[.]ts$' },
  to,
});

/** Edges that leave what a layer may see of our own code. */
const ours = (...allowed) => ({ path: src, pathNot: allowed.map((folder) => src + folder) });
const byValue = { dependencyTypesNot: ['type-only'] };
const packagesBut = (...allowed) => ({
  dependencyTypes: npm,
  pathNot: allowed.map((name) => `(^|/)node_modules/${name}(/|$)`),
});

const rpcPackages = ['@bufbuild/protobuf', '@connectrpc/connect'];

/** The folders and files of daemon/src that have rules below. */
const known = [
  'assets',
  'kit',
  'protocols',
  'platform',
  'core',
  'operations',
  'http',
  'surfaces',
  'cli',
  'compose',
].map((folder) => `${src}${folder}/`);
known.push(`${src}(main|daemon|config|api|version)([.]test)?[.]ts$`);

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    layer('kit-is-alone', 'kit is our standard library: it imports nothing else of ours.', 'kit/', ours('kit/')),
    layer('kit-no-npm', 'kit stays free of packages.', 'kit/', { dependencyTypes: npm }),
    layer('kit-no-outside-world', 'kit opens no process and no socket.', 'kit/', { path: outsideWorld }),

    layer(
      'protocols-below',
      'protocols has what both sides know of a foreign protocol.',
      'protocols/',
      ours('kit/', 'protocols/'),
    ),
    layer('protocols-no-npm', 'protocols stays free of packages.', 'protocols/', { dependencyTypes: npm }),
    layer('protocols-no-outside-world', 'protocols opens no process and no socket.', 'protocols/', {
      path: outsideWorld,
    }),

    layer(
      'platform-below',
      'platform knows kit and protocols only.',
      'platform/',
      ours('kit/', 'protocols/', 'platform/'),
    ),

    layer('assets-are-texts', 'assets are programs for other runtimes, which run alone.', 'assets/', ours('assets/')),
    layer('assets-packages', 'an interpreter for JavaScript has its parser.', 'assets/', packagesBut('acorn')),

    layer(
      'core-layers',
      'core never sees http, surfaces or the composition.',
      'core/',
      ours('kit/', 'protocols/', 'core/', 'platform/'),
    ),
    layer('core-platform-types-only', 'core receives the platform as arguments; it imports its types.', 'core/', {
      path: `${src}platform/`,
      ...byValue,
    }),
    layer(
      'core-own-plane',
      'planes do not know each other; identity, capabilities and processes are shared.',
      'core/([^/]+)/',
      {
        path: `${src}core/`,
        pathNot: [`${src}core/$1/`, `${src}core/(identity|capabilities|processes)/`],
      },
    ),
    layer('core-accounts-alone', 'accounts and probes know nothing of processes.', 'core/(identity|capabilities)/', {
      path: `${src}core/`,
      pathNot: `${src}core/$1/`,
    }),
    layer('core-processes-below', 'processes run as accounts and know no plane.', 'core/processes/', {
      path: `${src}core/`,
      pathNot: `${src}core/(identity|processes)/`,
    }),
    layer('core-no-npm', 'core stays free of packages; a library comes in as an argument.', 'core/', {
      dependencyTypes: npm,
      ...byValue,
    }),
    layer('core-no-outside-world', 'core opens no process, no socket and no file of the runtime itself.', 'core/', {
      path: outsideWorld,
    }),

    layer(
      'operation-layers',
      'an operation names what core does, for every surface.',
      'operations/',
      ours('kit/', 'protocols/', 'core/', 'operations/'),
    ),
    layer('operation-packages', 'an operation has the schema library.', 'operations/', packagesBut('zod')),
    layer('operation-no-outside-world', 'an operation opens no process and no socket.', 'operations/', {
      path: outsideWorld,
    }),

    layer(
      'http-layers',
      'http translates for any surface: it knows kit, and what an operation is.',
      'http/',
      ours('kit/', 'http/', 'operations/operation[.]ts$'),
    ),
    layer('http-operation-types-only', 'http binds operations and knows none.', 'http/', {
      path: `${src}operations/`,
      ...byValue,
    }),
    layer(
      'http-packages',
      'http has its router, its schemas and its upload reader.',
      'http/(?!rpc[.]ts$)',
      packagesBut('hono', 'zod', '@fastify/busboy'),
    ),
    layer('rpc-packages', 'one file of http has the RPC library.', 'http/rpc[.]ts$', packagesBut(...rpcPackages)),

    layer(
      'surface-layers',
      'a surface translates between http, operations and core.',
      'surfaces/',
      ours('kit/', 'protocols/', 'http/', 'operations/', 'core/', 'surfaces/'),
    ),
    layer('surface-own-surface', 'surfaces do not know each other.', 'surfaces/((?!mcp/)[^/]+)/', {
      path: `${src}surfaces/`,
      pathNot: `${src}surfaces/$1/`,
    }),
    layer('mcp-from-routes', 'tools take their schemas from the current routes, never from v1.', 'surfaces/mcp/', {
      path: `${src}surfaces/`,
      pathNot: `${src}surfaces/(mcp|v2|browser|desktop)/`,
    }),
    layer(
      'surfaces-by-api',
      'one file knows which surfaces there are, so that one can go.',
      '(?!api[.]ts$|surfaces/)',
      {
        path: `${src}surfaces/`,
      },
    ),
    layer(
      'off-is-not-loaded',
      'most daemons do not serve these protocols, and load nothing of them.',
      '(?!surfaces/(agent-sandbox|e2b)/|platform/server/http2-)',
      {
        path: ['surfaces/(agent-sandbox|e2b)/', 'platform/server/http2-', 'http/rpc[.]ts$'].map((path) => src + path),
        dynamic: false,
        ...byValue,
      },
    ),
    layer(
      'surface-packages',
      'a surface has the schema library.',
      'surfaces/(?!(agent-sandbox|e2b)/)',
      packagesBut('zod'),
    ),
    layer(
      'rpc-surface-packages',
      'a surface with messages of RPC has their library too.',
      'surfaces/(agent-sandbox|e2b)/',
      packagesBut('zod', ...rpcPackages),
    ),
    layer('surface-no-outside-world', 'a surface opens no process and no socket.', 'surfaces/', { path: outsideWorld }),

    layer(
      'cli-layers',
      'a sub-command is a client of the HTTP interface.',
      'cli/',
      ours('kit/', 'http/', 'cli/', 'config[.]ts$'),
    ),
    layer('clients-by-cli', 'only sub-commands are clients of a daemon.', '(?!cli/)', {
      path: '^clients/',
    }),
    layer('cli-http-types-only', 'a sub-command knows the shapes of http, not its code.', 'cli/', {
      path: `${src}http/`,
      ...byValue,
    }),

    layer(
      'config-layers',
      'config is a table; it knows kit and protocols only.',
      'config[.]ts$',
      ours('kit/', 'protocols/', 'config[.]ts$'),
    ),
    layer('config-packages', 'config has the schema library.', 'config[.]ts$', packagesBut('zod')),

    layer('compose-only-by-main', 'things are constructed in one place, for one program.', '(?!main[.]ts$)', {
      path: `${src}compose/index[.]ts$`,
    }),
    layer(
      'assets-by-compose',
      'core is given the texts that it sends or reads.',
      '(?!compose/(accessibility|browser|code|display|e2b|files|http)[.]ts$|assets/)',
      {
        path: `${src}assets/`,
      },
    ),
    layer('compose-in-parts', 'a part of the composition is for the whole of it.', '(?!compose/)', {
      path: `${src}compose/`,
      pathNot: `${src}compose/(index|worker)[.]ts$`,
    }),
    layer('compose-worker-by-main', 'the worker is a program of its own, which main starts.', '(?!main[.]ts$)', {
      path: `${src}compose/worker[.]ts$`,
    }),
    layer(
      'daemon-only-by-compose',
      'its life is led by main alone, once compose has made it.',
      '(?!main[.]ts$|compose/index[.]ts$)',
      {
        path: `${src}daemon[.]ts$`,
      },
    ),
    {
      name: 'main-is-not-imported',
      comment: 'main is where the process begins and ends.',
      severity: 'error',
      from: {},
      to: { path: `${src}main[.]ts$` },
    },

    {
      name: 'black-box-tests',
      comment: 'test/ knows the specification and a socket, so that it can judge any build.',
      severity: 'error',
      from: { path: '^test/' },
      to: { path: src },
    },

    {
      name: 'console-is-a-client',
      comment: 'the console speaks with a daemon over HTTP alone, as any other client.',
      severity: 'error',
      from: { path: '^console/src/' },
      to: { pathNot: ['^console/src/', '^clients/typescript/src/', '(^|/)node_modules/@(?:xterm|codemirror|lezer)/'] },
    },

    {
      name: 'client-stands-alone',
      comment: 'a client has no dependencies, and runs wherever there is fetch.',
      severity: 'error',
      from: { path: '^clients/typescript/src/' },
      to: { pathNot: '^clients/typescript/src/' },
    },

    {
      name: 'known-layer',
      comment: 'a new folder needs its rules here before it is used.',
      severity: 'error',
      from: { path: src, pathNot: known },
      to: {},
    },
    {
      name: 'known-layer-used',
      comment: 'a new folder needs its rules here before it is used.',
      severity: 'error',
      from: {},
      to: { path: src, pathNot: known },
    },
    layer('no-dev-package', 'what ships uses what daemon/package.json names.', '', {
      dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
      dependencyTypesNot: ['type-only'],
    }),
    {
      name: 'no-cycle',
      comment: 'two files that need each other by value are one file, or miss a third.',
      severity: 'error',
      from: { path: src },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-circle-of-types',
      comment: 'types that two files need are in a third.',
      severity: 'error',
      from: { path: src, pathNot: '[.]test[.]ts$' },
      to: { circular: true },
    },
    {
      name: 'resolvable',
      comment: 'every import leads somewhere; the packages of test/clients are installed for its tests only.',
      severity: 'error',
      from: { pathNot: '^test/clients/(editors|component-libraries)/' },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    // "specify" keeps type-only edges in the picture and tells them apart.
    tsPreCompilationDeps: 'specify',
    tsConfig: { fileName: 'tsconfig.json' },
    combinedDependencies: true,
    doNotFollow: { path: 'node_modules' },
    builtInModules: { add: ['bun', 'bun:ffi', 'bun:jsc', 'bun:sqlite', 'bun:test'] },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
