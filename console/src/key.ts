/** The API key of this tab: from the address or from a person, kept until the tab is closed. */

const name = 'sandboxd.key';
const parameter = 'api_key';

export class Key {
  #value: string | null = readStored();

  get value(): string | null {
    return this.#value;
  }

  set value(key: string | null) {
    this.#value = key;
    try {
      if (key === null) sessionStorage.removeItem(name);
      else sessionStorage.setItem(name, key);
    } catch {
      // A browser may give a page within another one nothing to keep things in: it is asked for again after a reload.
    }
  }

  /** Takes it out of the address, which browsers remember and people copy. */
  takeFromAddress(): void {
    const address = new URL(location.href);
    const given = address.searchParams.get(parameter);
    if (given === null) return;
    this.value = given;
    address.searchParams.delete(parameter);
    history.replaceState(null, '', address);
  }
}

function readStored(): string | null {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null; // As above.
  }
}
