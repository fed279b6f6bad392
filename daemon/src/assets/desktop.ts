/** The tables of the computer-use worker. */
import alphabets from './tables/alphabets.txt' with { type: 'text' };
import aliases from './tables/key-aliases.txt' with { type: 'text' };
import keysyms from './tables/keysyms.txt' with { type: 'text' };

export { default as roleTable } from './tables/roles.txt' with { type: 'text' };

/** The keysyms of names and characters, and other names of keys. */
export const keyTables = { aliases, alphabets, keysyms };
