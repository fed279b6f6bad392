/** The interface of a measured server, independent of its wire format. */

/** How a server is opened for measurement. */
export interface Peer {
  readonly name: string;
  /** Whether the bench can open it repeatedly, to measure its start. */
  readonly canStartAnew: boolean;
  open(): Promise<Contestant>;
}

export interface Contestant extends AsyncDisposable {
  readonly name: string;
  /** Absent where the server has no address of HTTP. */
  readonly url?: string;
  /** The server processes whose memory counts. Empty when they cannot be distinguished from the commands that run. */
  readonly pids: readonly number[];
  /** From the start of the program to its first answer. Null where no first answer can be seen. */
  readonly startMs: number | null;
  /** Runs a script of `sh` to its end over a kept connection, and returns its exit code. */
  run(script: string): Promise<number>;
  /** Runs a script and yields the sizes of its standard output as it arrives. Null where output comes at the end. */
  readonly follow: ((script: string) => AsyncIterable<number>) | null;
  /** Uploads and downloads whole files by path. Absent where the server cannot. */
  readonly files?: FileTransfer;
}

export interface FileTransfer {
  upload(path: string, content: Blob): Promise<void>;
  /** The response, when its body begins. */
  download(path: string): Promise<Response>;
}

/** A client that transfers files between this machine's file system and a server. */
export interface Mover {
  readonly name: string;
  upload(target: string, source: string): Promise<void>;
  /** Returns the number of bytes that arrived. */
  download(path: string): Promise<number>;
}
