/** Constructs what the planes share: accounts, environments, limits of output, processes and tools. */
import { statfsSync } from 'node:fs';
import { totalmem } from 'node:os';
import type { Config } from '../config.ts';
import type { LogBudgetLimits } from '../core/commands/log-budget.ts';
import { Accounts } from '../core/identity/accounts.ts';
import { Toolchains } from '../core/ops/toolchain.ts';
import { imageEnvironment } from '../core/processes/environment.ts';
import { Tools } from '../core/processes/tool.ts';
import type { Logger } from '../kit/logger.ts';
import { Ownership } from '../kit/ownership.ts';
import type { Environment } from '../kit/types/environment.ts';
import { SystemAccounts } from '../platform/host/accounts.ts';
import type { Boot } from '../platform/process/init.ts';
import { fileStamp } from '../platform/host/machine.ts';
import { findProgram } from '../platform/process/programs.ts';
import { ScriptDirectory } from '../platform/stores/script-directory.ts';
import { KeeperSpawn } from '../platform/process/spawn.ts';

export interface DaemonInputs {
  readonly config: Config;
  readonly boot: Boot;
  /** A directory that init has locked for this daemon. */
  readonly runtimeDirectory: string;
  readonly environment: Environment;
  readonly logger: Logger;
}

export interface Shared extends DaemonInputs {
  readonly accounts: Accounts;
  readonly ownership: Ownership;
  readonly spawn: KeeperSpawn;
  readonly scripts: ScriptDirectory;
  readonly limits: LogBudgetLimits;
  /** The environment of the image, including the variables that init withheld from the daemon. */
  readonly commandEnvironment: Readonly<Record<string, string>>;
  readonly findTool: (program: string) => string | null;
  readonly tools: Tools;
  readonly toolchains: Toolchains;
  readonly onFault: (what: string, error: unknown) => void;
}

const mebibyte = 1024 * 1024;
/** File systems that live in memory, by their statfs(2) magic numbers. */
const memoryFileSystems = new Set([0x01021994, 0x858458f6]);

export function composeShared(inputs: DaemonInputs): Shared {
  const { boot, config, environment, logger, runtimeDirectory } = inputs;
  const onFault = (what: string, error: unknown) => logger.error(what, { reason: String(error) });
  const accounts = new Accounts({
    database: new SystemAccounts(),
    own: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
    defaultUser: config.defaultUser,
    platform: process.platform,
  });
  const ownership = new Ownership();
  const lose = (name: string, error: unknown) =>
    logger.error('the runtime directory', { what: `${name} could not be taken over`, reason: String(error) });
  const spawn = new KeeperSpawn(runtimeDirectory, ownership, lose, boot.keeperVersion);
  // Tools get no variables that steer a dynamic loader: what a caller starts gets them alone.
  const toolEnvironment = imageEnvironment(environment);
  const findTool = (program: string) => findProgram(program, toolEnvironment['PATH'] ?? '');
  const tools = new Tools({
    ...{ accounts, environment: toolEnvironment, spawn },
    onFault: (error) => onFault('a tool could not be put away', error),
  });
  return {
    ...inputs,
    ...{ accounts, findTool, onFault, ownership, spawn, tools },
    toolchains: new Toolchains({ find: findTool, stampOf: fileStamp, tools }),
    scripts: new ScriptDirectory(`${runtimeDirectory}/scripts-directory`),
    limits: logLimits(config, runtimeDirectory),
    commandEnvironment: {
      ...imageEnvironment({ ...environment, ...Object.fromEntries(boot.scrubbed) }),
      ...addressesOf(config),
    },
  };
}

/** By these variables, programs of the sandbox find the runtime interface of agent-sandbox. */
function addressesOf({ agentSandbox, agentSandboxRestPort, agentSandboxGrpcPort }: Config): Record<string, string> {
  if (agentSandbox === 'off') return {};
  return {
    SANDBOXD_REST_ADDR: `localhost:${agentSandboxRestPort}`,
    SANDBOXD_GRPC_ADDR: `localhost:${agentSandboxGrpcPort}`,
  };
}

/** The default limits of retained output, on a disk and in memory (contract, Commands). */
function logLimits({ streamKeptMib, totalKeptMib }: Config, directory: string): LogBudgetLimits {
  const isInMemory = memoryFileSystems.has(statfsSync(directory).type);
  const memoryBytes = Math.min(process.constrainedMemory() || totalmem(), totalmem());
  const total = isInMemory ? Math.min(2048 * mebibyte, Math.floor(memoryBytes / 10)) : 2048 * mebibyte;
  return {
    capBytes: (streamKeptMib ?? (isInMemory ? 64 : 256)) * mebibyte,
    totalBytes: totalKeptMib === null ? total : totalKeptMib * mebibyte,
  };
}
