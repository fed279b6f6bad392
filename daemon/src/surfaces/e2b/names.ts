/** Names that several parts of the surface know. */

/** The version of their daemon whose protocol this is: some clients look at it. */
export const protocolVersion = '0.6.13';

export const processIdWord = 'e2b';
/** How the ids of the commands of this surface begin. */
export const processPrefix = `${processIdWord}_`;
/** How the ids of its code sessions begin. No client of `/v2` chooses such an id by chance. */
export const contextPrefix = 'e2b-';
