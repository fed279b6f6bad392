/** The note that is stored beside each process. It begins with the plane that owns the process. */

export const processPlanes = ['commands', 'terminals', 'code', 'tools'] as const;
export type ProcessPlane = (typeof processPlanes)[number];

/** JSON of the plane, as the plane has given it. */
export type ProcessNote = Readonly<Record<string, unknown>>;

export interface TaggedNote {
  /** null for a plane of a later version: this daemon leaves its processes alone. */
  readonly plane: ProcessPlane | null;
  readonly note: ProcessNote;
}

export function encodeNote(plane: ProcessPlane, note: object): string {
  return JSON.stringify({ plane, ...note });
}

/** null for an incomplete note: its daemon died while writing the note, and started nothing. */
export function decodeNote(text: string): TaggedNote | null {
  try {
    const { plane: tag, ...note } = JSON.parse(text) as ProcessNote;
    const plane = tag === undefined ? untaggedPlane(note) : processPlanes.find((name) => name === tag);
    return { plane: plane ?? null, note };
  } catch {
    return null; // Incomplete JSON.
  }
}

/** Notes of earlier daemons have no tag. Each plane has a field of its own. */
function untaggedPlane(note: ProcessNote): ProcessPlane | undefined {
  if ('terminal' in note) return 'terminals';
  if ('code' in note) return 'code';
  if ('tool' in note) return 'tools';
  return 'command' in note ? 'commands' : undefined;
}
