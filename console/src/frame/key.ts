/** The API key of this tab: taken from the address or from a person, and kept until the tab closes. */

const name = 'boxkeep.key';
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
      // A browser may deny storage to a page inside a frame. The page then asks for the key again after a reload.
    }
  }

  /** Removes the key from the address, which browsers remember and people copy. */
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
    return null; // As above: the browser denies storage.
  }
}
