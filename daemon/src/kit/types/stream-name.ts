/** Names the output streams of a command. */

export const streamNames = ['stdout', 'stderr'] as const;
export type StreamName = (typeof streamNames)[number];
