/** What the machine uses at the moment. */
export interface MachineUse {
  readonly processors: number;
  /** Percent of all processors, since the last time it was read, or since the start of the machine. */
  readonly busyPercent: number;
  /** Bytes, within the limits of the container. */
  readonly memory: { readonly total: number; readonly used: number; readonly cached: number };
  /** Bytes of the file system of the root. */
  readonly disk: { readonly total: number; readonly used: number };
}
