/** The probes of planes that this version does not serve: they say so, and tell what the image would bring. */
import type { Probe, Probes } from './capabilities.ts';
import type { Standing } from './report.ts';

export interface ImageView {
  /** The first executable of that name on PATH, now. */
  readonly find: (program: string) => string | null;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

type Unserved = Omit<Probes, 'exec' | 'files' | 'codeInterpreter'>;

/** One entry goes when its plane comes. */
export function unservedProbes({ find, environment }: ImageView): Unserved {
  const noBrowser = { process: null, cdp: null, version: null };
  const noComputer = {
    provider: null,
    resolution: null,
    screenshot: false,
    actions: false,
    clipboard: false,
    recording: false,
    accessibility: false,
    accessibilityBackend: null,
  };
  return {
    browser: always({ ...unserved('browser'), ...noBrowser }, noBrowser),
    computer: {
      look: () => ({
        ...unserved('desktop', find, ['ffmpeg']),
        ...noComputer,
        display: environment['DISPLAY'] ?? null,
      }),
      unknown: { ...noComputer, display: null },
    },
    mcp: always(unserved('MCP'), {}),
  };
}

function unserved(plane: string, find?: ImageView['find'], programs: readonly string[] = []): Standing {
  const absent = programs.filter((program) => find?.(program) === null).map((program) => `${program} is not on PATH`);
  return { status: 'absent', missing: [`this version does not serve the ${plane} plane`, ...absent], warnings: [] };
}

function always<C extends Standing>(answer: C, unknown: Omit<C, keyof Standing>): Probe<C> {
  return { look: () => answer, unknown };
}
