/** Names that several parts of the surface know. */

export const processIdWord = 'as';
/** How the ids of the commands of this surface begin. */
export const processPrefix = `${processIdWord}_`;
/** The metadata of a call that carries the id under which `/v2/commands` has the command. */
export const commandIdKey = 'boxkeep-command-id';
