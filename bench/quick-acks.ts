/**
 * Acknowledges received data at once, to measure a server without the effect of delayed acknowledgements.
 *
 * A server that leaves Nagle's algorithm on holds back the second of two small messages until the first is
 * acknowledged, and a client delays that acknowledgement by some 40 ms.
 */
import { dlopen } from 'bun:ffi';
import { connectionsTo } from './processes.ts';

const tcp = 6;
const quickAck = 12;
const on = new Int32Array([1]);

/** Covers the current connections of this process to a port. Call the result after each message in either direction. */
export function quickAcks(port: number): () => void {
  const { setsockopt } = dlopen('libc.so.6', {
    setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
  }).symbols;
  const descriptors = connectionsTo(port);
  return () => {
    // The call fails for a descriptor that was closed meanwhile, which does no harm.
    for (const descriptor of descriptors) setsockopt(descriptor, tcp, quickAck, on, on.byteLength);
  };
}
