/** The variables of this process, as a sub-command reads them. */

export type Environment = Readonly<Record<string, string | undefined>>;
