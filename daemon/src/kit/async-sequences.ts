/** Transforms asynchronous sequences with one promise per element, where a generator would take several. */

/** `first`, and then the elements of `rest`. */
export function prepend<T>(first: T, rest: AsyncIterator<T>): AsyncIterableIterator<T> {
  let hasStarted = false;
  return sequence(rest, () => {
    if (hasStarted) return rest.next();
    hasStarted = true;
    return Promise.resolve({ done: false, value: first });
  });
}

/** Every element of `elements`, changed by `change`. */
export function mapEach<T, U>(elements: AsyncIterable<T>, change: (element: T) => U): AsyncIterableIterator<U> {
  const iterator = elements[Symbol.asyncIterator]();
  return sequence(iterator, async (): Promise<IteratorResult<U>> => {
    const result = await iterator.next();
    return result.done ? { done: true, value: undefined } : { done: false, value: change(result.value) };
  });
}

function sequence<U>(
  source: Pick<AsyncIterator<unknown>, 'return'>,
  next: () => Promise<IteratorResult<U>>,
): AsyncIterableIterator<U> {
  return {
    next,
    async return() {
      await source.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
