/** What the verbs of the files plane work with. */
import type { Accounts } from '../identity/accounts.ts';
import type { Places } from '../identity/places.ts';

export interface FilesContext {
  readonly accounts: Accounts;
  readonly places: Places;
}
