/** A range of an open file as a body that the runtime sends by itself. */

/** The runtime opens the file once more when it begins to send: until then the descriptor has to be held. */
export function fileSlice(descriptor: number, from: number, to: number): Blob {
  return Bun.file(`/proc/self/fd/${descriptor}`).slice(from, to);
}
