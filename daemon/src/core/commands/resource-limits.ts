/** Turns the resource limits that a caller sets on a command into rlimits. */
import type { ResourceLimit } from '../../platform/process/spawn.ts';

export interface CommandLimits {
  readonly memoryBytes?: number | undefined;
  readonly cpuSeconds?: number | undefined;
  readonly openFiles?: number | undefined;
  readonly processes?: number | undefined;
  readonly fileBytes?: number | undefined;
}

/** Constants of `<asm-generic/resource.h>`, the same on x64 and arm64. */
const resources = { cpuSeconds: 0, fileBytes: 1, processes: 6, openFiles: 7, memoryBytes: 9 } as const;

/** Soft and hard limits are equal, so that the command cannot raise what its caller has set. */
export function resourceLimits(limits: CommandLimits): ResourceLimit[] {
  return Object.entries(resources).flatMap(([name, resource]) => {
    const value = limits[name as keyof CommandLimits];
    return value === undefined ? [] : [{ resource, soft: BigInt(value), hard: BigInt(value) }];
  });
}
