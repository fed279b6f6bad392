/**
 * Acknowledges at once what a server has sent. One that leaves Nagle's algorithm on holds the second of two small
 * messages back until the first is acknowledged, for which a client waits some 40 ms: that would be measured, and not
 * the server.
 */
import { dlopen } from 'bun:ffi';
import { connectionsTo } from './processes.ts';

const tcp = 6;
const quickAck = 12;
const on = new Int32Array([1]);

/** For all connections of this process to a port that there are now; to be called behind each message, both ways. */
export function quickAcks(port: number): () => void {
  const { setsockopt } = dlopen('libc.so.6', {
    setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
  }).symbols;
  const descriptors = connectionsTo(port);
  return () => {
    // One that was closed meanwhile is refused, which does no harm.
    for (const descriptor of descriptors) setsockopt(descriptor, tcp, quickAck, on, on.byteLength);
  };
}
