/** Constructs the objects that describe the daemon and the image. */
import type { Code } from './code.ts';
import type { Shared } from './shared.ts';
import { Capabilities, type Probe } from '../core/capabilities/capabilities.ts';
import type { BrowserCapability, ComputerCapability } from '../core/capabilities/report.ts';
import { execProbe } from '../core/commands/probe.ts';
import { filesProbe } from '../core/files/probe.ts';
import { Packages } from '../core/ops/packages.ts';
import { Sandbox } from '../core/ops/sandbox.ts';
import { maxWatchers } from '../core/watch/watchers.ts';
import type { MemoryBudget } from '../kit/memory-budget.ts';
import { readMachine } from '../platform/host/machine.ts';
import { carriedRipgrep } from '../platform/process/carried.ts';
import { isExecutableFile } from '../platform/process/programs.ts';
import { keepSandboxId } from '../platform/stores/runtime-directory.ts';
import { commit, version } from '../version.ts';

export interface OperationsInputs {
  readonly room: MemoryBudget;
  readonly browserProbe: Probe<BrowserCapability>;
  readonly code: Code;
  readonly computerProbe: Probe<ComputerCapability>;
}

export function composeOperations(shared: Shared, { room, browserProbe, code, computerProbe }: OperationsInputs) {
  const { config, environment, findTool, limits, toolchains, tools } = shared;
  const sandbox = new Sandbox({
    id: keepSandboxId(shared.runtimeDirectory),
    version,
    commit,
    pid: process.pid,
    accounts: shared.accounts,
    defaultUser: config.defaultUser,
    runtimeDir: shared.runtimeDirectory,
    startedMs: performance.timeOrigin,
    limits: {
      runningCommands: config.maxCommands,
      commandSessions: config.maxCommandSessions,
      streams: config.maxStreams,
      terminals: config.maxTerminals,
      watchers: maxWatchers,
      jsonBodyBytes: room.maxBytes,
      logBytesPerStream: limits.capBytes,
      logBytes: limits.totalBytes,
    },
    readMachine: () => readMachine(environment),
  });
  const probes = {
    browser: browserProbe,
    codeInterpreter: code.info.probe,
    computer: computerProbe,
    exec: execProbe(findTool, config.terminalBackend),
    files: filesProbe(carriedRipgrep(), isExecutableFile),
    // The endpoint needs nothing of the image; each tool reports what it lacks.
    mcp: { look: () => ({ status: 'ready' as const, missing: [], warnings: [] }), unknown: {} },
  };
  return { sandbox, capabilities: new Capabilities(probes, Date.now), packages: new Packages(tools), toolchains };
}
