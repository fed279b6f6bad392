/** A range of an open file, as a body that the runtime sends by itself. */

/** The runtime opens the file again when it starts to send, so the descriptor must stay open until then. */
export function fileSlice(descriptor: number, from: number, to: number): Blob {
  return Bun.file(`/proc/self/fd/${descriptor}`).slice(from, to);
}
