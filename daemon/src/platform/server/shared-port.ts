/** Shares one port between two daemons during a handover, through system calls that the runtime lacks. */
import { dlopen, ptr } from 'bun:ffi';
import { readdirSync, readFileSync } from 'node:fs';

const afUnix = 1;
const afInet6 = 10;
const sockStream = 1;
const tcp = 6;
const tcpInfo = 11;
/** The offset in `struct tcp_info` where a listening socket reports connections that wait to be accepted. */
const waitingAt = 24;
const socketLevel = 1;
const reusePort = 15;
const acceptsConnections = 30;
const attachFilter = 51;
/** The instruction of a classic BPF program that returns its operand. */
const bpfReturn = 6;

function openLibrary() {
  return dlopen('libc.so.6', {
    setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
    getsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'ptr'], returns: 'i32' },
    getsockname: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
    socket: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
    dup2: { args: ['i32', 'i32'], returns: 'i32' },
    close: { args: ['i32'], returns: 'i32' },
  }).symbols;
}

type Library = ReturnType<typeof openLibrary>;

/** The listening socket of this process on a port. The runtime owns the socket and does not know of these changes. */
export class SharedPort {
  private constructor(
    private readonly library: Library,
    private readonly descriptor: number,
    private readonly port: number,
  ) {}

  /** Null when the socket cannot be found or changed; then the port has one owner at a time. */
  static find(port: number): SharedPort | null {
    try {
      const library = openLibrary();
      const descriptor = socketsOn(library, port).find((each) => isListening(library, each));
      return descriptor === undefined ? null : new SharedPort(library, descriptor, port);
    } catch {
      return null; // No callable C library, or no /proc.
    }
  }

  /** Sets whether another daemon of this account may listen on the port too. */
  share(isShared: boolean): boolean {
    return this.#set(reusePort, new Int32Array([isShared ? 1 : 0]));
  }

  /** How many sockets of this machine listen on the port. */
  listeners(): number {
    const port = this.port.toString(16).toUpperCase().padStart(4, '0');
    const line = new RegExp(`^ *\\d+: [\\dA-F]+:${port} [\\dA-F]+:0000 0A `, 'gm');
    const tables = ['tcp', 'tcp6'].map((name) => readFileSync(`/proc/self/net/${name}`, 'latin1'));
    return tables.reduce((sum, table) => sum + (table.match(line)?.length ?? 0), 0);
  }

  /**
   * Sends every new connection to this daemon, though the older one still listens.
   * A BPF filter selects the second of the two sockets, which is the newer one. From then on no other daemon can share
   * the port.
   */
  takeConnections(): void {
    const instruction = new Uint8Array(8);
    new DataView(instruction.buffer).setUint16(0, bpfReturn, true);
    new DataView(instruction.buffer).setUint32(4, 1, true);
    const program = new Uint8Array(16);
    new DataView(program.buffer).setUint16(0, 1, true);
    new DataView(program.buffer).setBigUint64(8, BigInt(ptr(instruction)), true);
    this.#set(attachFilter, program);
    this.share(false);
  }

  /** Established connections that the runtime has not accepted yet. */
  waiting(): number {
    const info = new Uint8Array(256);
    const size = new Uint32Array([info.byteLength]);
    const failed = this.library.getsockopt(this.descriptor, tcp, tcpInfo, ptr(info), ptr(size));
    return failed === 0 ? new DataView(info.buffer).getUint32(waitingAt, true) : 0;
  }

  /** Connections that this process holds. */
  connections(): number {
    return socketsOn(this.library, this.port).filter((each) => !isListening(this.library, each)).length;
  }

  /** Stops listening. The runtime keeps its descriptor, now an unused socket, and all its connections. */
  close(): void {
    const nothing = this.library.socket(afUnix, sockStream, 0);
    if (nothing < 0) return; // No free descriptor: the socket listens until the process ends, but unused.
    this.library.dup2(nothing, this.descriptor);
    this.library.close(nothing);
  }

  #set(option: number, value: Int32Array | Uint8Array): boolean {
    return this.library.setsockopt(this.descriptor, socketLevel, option, ptr(value), value.byteLength) === 0;
  }
}

/** The descriptors of this process whose local port is the given one. */
function socketsOn(library: Library, port: number): number[] {
  const address = new Uint8Array(128);
  const view = new DataView(address.buffer);
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((descriptor) => {
      const size = new Uint32Array([address.byteLength]);
      if (library.getsockname(descriptor, ptr(address), ptr(size)) !== 0) return false;
      const family = view.getUint16(0, true);
      return family !== afUnix && family <= afInet6 && view.getUint16(2, false) === port;
    });
}

function isListening(library: Library, descriptor: number): boolean {
  const answer = new Int32Array(1);
  const size = new Uint32Array([answer.byteLength]);
  library.getsockopt(descriptor, socketLevel, acceptsConnections, ptr(answer), ptr(size));
  return answer[0] === 1;
}
