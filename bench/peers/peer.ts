/** What a row may ask of a server under measurement, whatever its wire looks like. */

/** How a server comes to be measured. */
export interface Peer {
  readonly name: string;
  /** Whether it can be opened again and again, to measure its start. */
  readonly canStartAnew: boolean;
  open(): Promise<Contestant>;
}

export interface Contestant extends AsyncDisposable {
  readonly name: string;
  /** The processes of the server, whose memory counts; none when they cannot be told from what it runs. */
  readonly pids: readonly number[];
  /** From the start of the program to its first answer; null where there is no such answer to see. */
  readonly startMs: number | null;
  /** Runs a script of `sh` to its end and tells its exit code, over a connection that is kept. */
  run(script: string): Promise<number>;
  /** Runs a script and tells, as they arrive, how many bytes of its standard output; null where output comes at the end. */
  readonly follow: ((script: string) => AsyncIterable<number>) | null;
  /** Takes and sends whole files by their path; absent where it cannot. */
  readonly files?: FileTransfer;
}

export interface FileTransfer {
  upload(path: string, content: Blob): Promise<void>;
  /** The answer, as its body begins. */
  download(path: string): Promise<Response>;
}
