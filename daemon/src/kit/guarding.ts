/** Work on a resource that its caller gets when the work has succeeded. */

/** Disposes of the resource when the work fails. */
export async function guarding<T>(resource: AsyncDisposable, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await resource[Symbol.asyncDispose]();
    throw error;
  }
}
