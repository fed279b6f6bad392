/** What the machine has, within the limits of the container, and what it uses at the moment. */
export interface MachineSize {
  readonly processors: number;
  readonly memoryBytes: number;
  /** Of the file system of the root. */
  readonly diskBytes: number;
}

export interface MachineUse extends MachineSize {
  /** Percent of all processors, since the last time it was read, or since the start of the machine. */
  readonly busyPercent: number;
  readonly usedMemoryBytes: number;
  /** Pages of files. */
  readonly cachedBytes: number;
  readonly usedDiskBytes: number;
}
