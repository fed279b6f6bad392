/** Constructs the code plane. */
import { randomBytes } from 'node:crypto';
import { bridgeProgram, kernelProbe, nodeProgram, pythonProgram } from './assets/loaders.ts';
import type { Config } from './config.ts';
import { Bridges } from './core/code/bridges.ts';
import { Backends, type Candidate } from './core/code/backends.ts';
import { CodeInfo, type CodeInfoDeps } from './core/code/info.ts';
import { LargeValues } from './core/code/large-values.ts';
import type { Language } from './core/code/language.ts';
import { JupyterBackend } from './core/code/jupyter-backend.ts';
import { KernelBackend } from './core/code/kernel-backend.ts';
import { Kernels } from './core/code/kernels.ts';
import { ReplBackend, type ReplBackendDeps } from './core/code/repl-backend.ts';
import type { RunningCell, SessionRecord } from './core/code/session.ts';
import { CodeSessions } from './core/code/sessions.ts';
import type { Scratch } from './core/code/single-runs.ts';
import { SpareInterpreters } from './core/code/spare-interpreters.ts';
import type { Tools } from './core/capabilities/tool-run.ts';
import type { Accounts } from './core/identity/accounts.ts';
import { imageEnvironment } from './core/identity/environment.ts';
import type { Logger } from './kit/logger.ts';
import { freePorts } from './platform/free-ports.ts';
import { JupyterServer } from './platform/jupyter-server.ts';
import { KernelDirectories } from './platform/kernel-directories.ts';
import { fileStamp, modifiedNs } from './platform/machine.ts';
import { isMemoryShort } from './platform/memory.ts';
import { NoteFiles } from './platform/note-files.ts';
import { findProgram } from './platform/programs.ts';
import { ScriptDirectory } from './platform/script-directory.ts';
import type { Spawn } from './platform/spawn.ts';
import { StateFile } from './platform/state-file.ts';

export interface CodeInputs {
  readonly accounts: Accounts;
  readonly config: Config;
  /** Of the image, with what was taken from the daemon's own. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  readonly runtimeDirectory: string;
  readonly scratch: Scratch;
  readonly spawn: Spawn;
  readonly tools: Tools;
  readonly versions: CodeInfoDeps['versions'];
}

export interface Code {
  readonly sessions: CodeSessions;
  readonly info: CodeInfo;
}

export function composeCode({ accounts, config, logger, runtimeDirectory, spawn, ...inputs }: CodeInputs): Code {
  const onFault = (what: string, error: unknown) => logger.error(what, { reason: String(error) });
  const repl = (language: Language): ReplBackend =>
    new ReplBackend({
      ...repls[language],
      language,
      ...{ accounts, findProgram, spawn, onFault },
      environment: imageEnvironment(inputs.environment),
    });
  const python = repl('python');
  const javascript = repl('javascript');
  const kernels = composeKernels({ accounts, runtimeDirectory, spawn, onFault, ...inputs });
  const jupyter =
    config.jupyterEndpoint === null
      ? []
      : [new JupyterBackend({ server: new JupyterServer(config.jupyterEndpoint), now: Date.now })];
  const backends = new Backends({
    candidates: {
      python: [...jupyter.map(serverCandidate), kernelCandidate(kernels), candidate(python)],
      javascript: [candidate(javascript), namedKernelCandidate(kernels, 'javascript')],
    },
    pinned: config.codeBackend,
  });
  const spare = new SpareInterpreters({
    kinds: [
      ...[python, javascript].map((backend) => ({
        backend,
        wanted: config.spareInterpreters,
        missing: async () => backend.missing(),
        stamp: () => stampOf(backend.find()),
      })),
      // Their program is known to the probe of kernels alone.
      { backend: kernels, wanted: config.spareKernels, missing: () => kernels.missing(null), stamp: () => null },
    ],
    record: (backend): SessionRecord => ({
      id: 'spare',
      language: backend.language,
      backend: backend.name,
      kernel: null,
      user: null,
      account: accounts.default().name,
      cwd: accounts.default().home,
      env: {},
      isSingle: false,
      createdMs: Date.now(),
      lastUsedMs: Date.now(),
      executionCount: 0,
      interpreter: null,
    }),
    isMemoryShort,
    onFault,
  });
  const limits = {
    repl: { most: config.maxInterpreters, idleMs: config.interpreterIdleSeconds * 1000 },
    kernel: { most: config.maxKernels, idleMs: config.kernelIdleSeconds * 1000 },
  };
  const files = new ScriptDirectory(`${runtimeDirectory}/outputs-directory`);
  const ownerOf = (user: string | null) => {
    const account = accounts.resolve(user);
    return accounts.isOwn(account) ? null : account;
  };
  const sessions = new CodeSessions({
    largeValues: new LargeValues({ files, ownerOf }),
    ...{ backends, spare, accounts, kernels, limits, onFault, scratch: inputs.scratch },
    store: new StateFile<readonly SessionRecord[]>(`${runtimeDirectory}/code-sessions.json`, [], onFault),
    notes: new NoteFiles<RunningCell>(`${runtimeDirectory}/cells`, onFault),
    now: Date.now,
  });
  const find = (language: Language) => ({ python, javascript })[language].find();
  return { sessions, info: new CodeInfo({ backends, limits, find, versions: inputs.versions }) };
}

/** Of the program at a path, with the path. */
function stampOf(path: string | null): string | null {
  return path === null ? null : `${path} ${fileStamp(path)}`;
}

interface KernelInputs extends Pick<CodeInputs, 'accounts' | 'environment' | 'runtimeDirectory' | 'spawn' | 'tools'> {
  readonly onFault: (what: string, error: unknown) => void;
}

/** Bytes of the directory around those of kernels, whose sockets may have paths of 100. */
const mostDirectoryBytes = 80;

function composeKernels({ accounts, runtimeDirectory, spawn, tools, onFault, ...inputs }: KernelInputs): KernelBackend {
  const environment = imageEnvironment(inputs.environment);
  const find = (program: string) => findProgram(program, environment['PATH'] ?? '');
  const shared = { accounts, environment, onFault, spawn };
  const note = `${runtimeDirectory}/kernels-directory`;
  return new KernelBackend({
    ...shared,
    kernels: new Kernels({ tools, probe: kernelProbe, find, stampOf: fileStamp, modifiedNs, now: Date.now }),
    bridges: new Bridges({ ...shared, program: bridgeProgram }),
    directories: new KernelDirectories(note, 'connection.json', mostDirectoryBytes, onFault),
    freePorts,
    randomKey: () => randomBytes(32).toString('hex'),
    now: Date.now,
  });
}

const repls: Readonly<Record<Language, Pick<ReplBackendDeps, 'name' | 'programs' | 'howToGet' | 'program'>>> = {
  python: {
    name: 'native',
    programs: ['python3', 'python'],
    howToGet: 'Install python3 in the image.',
    program: pythonProgram,
  },
  javascript: {
    name: 'node',
    programs: ['node', 'nodejs'],
    howToGet: 'Install Node.js 18 or newer in the image.',
    program: nodeProgram,
  },
};

function candidate(backend: ReplBackend): Candidate {
  return {
    backend,
    missing: async () => backend.missing(),
    kernels: async () => [],
  };
}

function kernelCandidate(backend: KernelBackend): Candidate {
  return {
    backend,
    missing: (user) => backend.missing(user),
    kernels: (user) => backend.names(user, 'python'),
    versions: (user) => backend.versions(user),
  };
}

/** What runs a language without a kernel is better known, and there all the same. */
function namedKernelCandidate(kernels: KernelBackend, language: Language): Candidate {
  const names = (user: string | null) => kernels.names(user, language);
  return {
    backend: kernels.for(language),
    missing: async (user) => ((await names(user)).length === 0 ? `no kernel for ${language} is installed` : null),
    kernels: names,
    isForNamed: true,
  };
}

function serverCandidate(backend: JupyterBackend): Candidate {
  return { backend, missing: (user) => backend.missing(user), kernels: (user) => backend.kernels(user) };
}
