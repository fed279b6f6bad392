/** Constructs the objects that run code. */
import { randomBytes } from '../kit/crypto.ts';
import { bridgeProgram, kernelProbe, lendProgram, nodeProgram, pythonProgram } from '../assets/loaders.ts';
import type { Shared } from './shared.ts';
import { Bridges } from '../core/code/backends/bridges.ts';
import { Backends, type Candidate } from '../core/code/backends/backends.ts';
import { CodeInfo } from '../core/code/info.ts';
import { LargeValues } from '../core/code/cells/large-values.ts';
import type { Language } from '../core/code/language.ts';
import { JupyterBackend } from '../core/code/backends/jupyter.ts';
import { KernelBackend } from '../core/code/backends/kernel.ts';
import { Kernels } from '../core/code/backends/kernels.ts';
import { ReplBackend, type ReplBackendDeps } from '../core/code/backends/repl.ts';
import type { RunningCell, SessionRecord } from '../core/code/sessions/record.ts';
import { CodeSessions } from '../core/code/sessions/sessions.ts';
import { SpareInterpreters } from '../core/code/sessions/spare-interpreters.ts';
import type { FilesContext } from '../core/files/context.ts';
import { ScratchDirectories } from '../core/files/scratch.ts';
import { askPython, type PythonAnswer } from '../platform/clients/ask-python.ts';
import { freePorts } from '../platform/server/free-ports.ts';
import { JupyterServer } from '../platform/clients/jupyter-server.ts';
import { KernelDirectories } from '../platform/stores/kernel-directories.ts';
import { fileStamp, modifiedNs } from '../platform/host/machine.ts';
import { boundsWithin, type JsonBounds } from '../kit/text/json-bounds.ts';
import { isMemoryShort, memoryLimitBytes } from '../platform/memory/memory.ts';
import { NoteFiles } from '../platform/stores/note-files.ts';
import { findProgram } from '../platform/process/programs.ts';
import { processStates } from '../platform/process/process-states.ts';
import { RecordStore } from '../platform/stores/record-store.ts';
import { ScriptDirectory } from '../platform/stores/script-directory.ts';

export interface Code {
  readonly sessions: CodeSessions;
  readonly info: CodeInfo;
}

export function composeCode(shared: Shared, files: FilesContext): Code {
  const { accounts, commandEnvironment: environment, config, onFault, ownership, runtimeDirectory, spawn } = shared;
  const bounds = boundsWithin(memoryLimitBytes());
  const repl = (language: Language): ReplBackend =>
    new ReplBackend({
      ...repls[language],
      ...{ accounts, environment, bounds, findProgram, language, onFault, spawn },
    });
  const python = repl('python');
  const javascript = repl('javascript');
  const kernels = composeKernels(shared, bounds);
  const jupyter =
    config.jupyterEndpoint === null
      ? []
      : [
          new JupyterBackend({
            server: new JupyterServer(config.jupyterEndpoint),
            ...{ bounds, lendProgram, ownership },
            now: Date.now,
          }),
        ];
  const backends = new Backends({
    candidates: {
      python: [...jupyter.map(serverCandidate), kernelCandidate(kernels), candidate(python)],
      javascript: [candidate(javascript), namedKernelCandidate(kernels, 'javascript')],
    },
    pinned: config.codeBackend,
  });
  const limits = {
    repl: { max: config.maxInterpreters, idleMs: config.interpreterIdleSeconds * 1000 },
    kernel: { max: config.maxKernels, idleMs: config.kernelIdleSeconds * 1000 },
  };
  const ownerOf = (user: string | null) => accounts.unlessOwn(accounts.resolve(user));
  const sessions = new CodeSessions({
    largeValues: new LargeValues({ files: new ScriptDirectory(`${runtimeDirectory}/outputs-directory`), ownerOf }),
    spare: composeSpare(shared, [python, javascript], kernels),
    ...{ backends, accounts, kernels, limits, onFault, ownership, scratch: new ScratchDirectories(files) },
    store: new RecordStore<SessionRecord>({
      path: `${runtimeDirectory}/code-sessions.json`,
      what: 'code sessions',
      ...{ onFault, ownership },
    }),
    notes: new NoteFiles<RunningCell>(`${runtimeDirectory}/cells`, onFault),
    isDying: processStates.isDying,
    now: Date.now,
  });
  const find = (language: Language) => ({ python, javascript })[language].find();
  return { sessions, info: new CodeInfo({ backends, limits, find, versions: () => shared.toolchains.look() }) };
}

function composeSpare(
  { accounts, config, onFault }: Shared,
  repls: readonly ReplBackend[],
  kernels: KernelBackend,
): SpareInterpreters {
  return new SpareInterpreters({
    kinds: [
      ...repls.map((backend) => ({
        backend,
        wanted: config.spareInterpreters,
        missing: async () => backend.missing(),
        stamp: () => stampOf(backend.find()),
      })),
      // Only the kernel probe knows the Python program of a kernel, so kernels have no stamp here.
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
}

/** Runs the kernel probe for `boxkeep doctor`. */
export function askForKernels(python: string): PythonAnswer | null {
  return askPython(kernelProbe(python));
}

function stampOf(path: string | null): string | null {
  return path === null ? null : `${path} ${fileStamp(path)}`;
}

/** Maximum bytes of the enclosing directory's path. The sockets of kernels inside may have paths of 100 bytes. */
const maxDirectoryBytes = 80;

function composeKernels(shared: Shared, bounds: JsonBounds): KernelBackend {
  const { accounts, commandEnvironment: environment, onFault, runtimeDirectory, spawn, tools } = shared;
  const find = (program: string) => findProgram(program, environment['PATH'] ?? '');
  const deps = { accounts, environment, onFault, spawn };
  const note = `${runtimeDirectory}/kernels-directory`;
  return new KernelBackend({
    ...deps,
    kernels: new Kernels({ tools, probe: kernelProbe, find, stampOf: fileStamp, modifiedNs, now: Date.now }),
    bridges: new Bridges({ ...deps, bounds, program: bridgeProgram }),
    directories: new KernelDirectories(note, 'connection.json', maxDirectoryBytes, onFault),
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

/** Only for code whose caller names a kernel: the plain interpreter of a language is always available. */
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
