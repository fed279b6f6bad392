/** Defines the capability report: one record per domain, with its status, the reasons and the facts. */

export const capabilityStatuses = ['ready', 'degraded', 'absent'] as const;
export type CapabilityStatus = (typeof capabilityStatuses)[number];

/** The fields of every domain. */
export interface Standing {
  /** `degraded` works in part, `absent` does not work. */
  readonly status: CapabilityStatus;
  /** What is missing, one sentence each. */
  readonly missing: readonly string[];
  readonly warnings: readonly string[];
}

export interface FilesCapability extends Standing {
  /** The path of `rg`; null when it is not on PATH. */
  readonly ripgrep: string | null;
}

export interface ExecCapability extends Standing {
  readonly shells: readonly string[];
  readonly pty: boolean;
  readonly tmux: boolean;
  /** The backend of terminals. */
  readonly backend: 'native' | 'tmux' | null;
}

export interface CodeCapability extends Standing {
  readonly backend: string | null;
  readonly jupyterBackend: string | null;
  readonly pythonKernels: readonly string[];
  readonly languages: readonly string[];
  /** The paths of the interpreters; null when they are not on PATH. */
  readonly python: string | null;
  readonly node: string | null;
}

export interface BrowserCapability extends Standing {
  readonly process: boolean | null;
  readonly cdp: boolean | null;
  readonly version: string | null;
}

export interface ComputerCapability extends Standing {
  readonly provider: string | null;
  readonly display: string | null;
  readonly resolution: { readonly width: number; readonly height: number } | null;
  readonly screenshot: boolean;
  readonly actions: boolean;
  readonly clipboard: boolean;
  readonly recording: boolean;
  readonly accessibility: boolean;
  readonly accessibilityBackend: string | null;
}

export interface CapabilityReport {
  readonly files: FilesCapability;
  readonly exec: ExecCapability;
  readonly codeInterpreter: CodeCapability;
  readonly browser: BrowserCapability;
  readonly computer: ComputerCapability;
  readonly mcp: Standing;
}

export const capabilityDomains = ['files', 'exec', 'codeInterpreter', 'browser', 'computer', 'mcp'] as const;
export type CapabilityDomain = (typeof capabilityDomains)[number];
