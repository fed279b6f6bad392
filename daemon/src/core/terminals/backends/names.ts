/** The ways in which the daemon runs the shell of a terminal. */

export const backendNames = ['native', 'tmux'] as const;

export type BackendName = (typeof backendNames)[number];
