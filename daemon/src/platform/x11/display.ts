/** One X display: a connection, and its requests in groups. */
import { Atoms } from './atoms.ts';
import { ChangeReports } from './changes/change-reports.ts';
import { X11Connection, type DisplaySpec } from './connection.ts';
import { ImageRequests } from './images.ts';
import { KeyboardRequests } from './keyboard.ts';
import { InputRequests } from './pointer.ts';
import { Properties } from './properties.ts';
import { ResolutionRequests } from './resolution.ts';
import { SelectionRequests } from './selections.ts';
import { SharedPixels } from './shared-pixels.ts';
import { WindowRequests } from './windows.ts';
import { XkbRequests } from './xkb.ts';

export class Display {
  readonly root: number;
  readonly atoms: Atoms;
  readonly properties: Properties;
  readonly windows: WindowRequests;
  readonly input: InputRequests;
  readonly keyboard: KeyboardRequests;
  readonly xkb: XkbRequests;
  readonly selections: SelectionRequests;
  readonly images: ImageRequests;
  readonly resolution: ResolutionRequests;
  readonly changes: ChangeReports;

  constructor(readonly connection: X11Connection) {
    const { root } = connection.setup.screen;
    this.root = root;
    this.atoms = new Atoms(connection);
    this.properties = new Properties(connection, this.atoms);
    this.windows = new WindowRequests(connection, root);
    this.input = new InputRequests(connection, root);
    this.keyboard = new KeyboardRequests(connection);
    this.xkb = new XkbRequests(connection);
    this.selections = new SelectionRequests(connection);
    this.images = new ImageRequests(connection, root, new SharedPixels(connection));
    this.resolution = new ResolutionRequests(connection, root);
    this.changes = new ChangeReports(connection, root);
  }

  /** Throws `X11Unreachable`. */
  static async open(spec: DisplaySpec): Promise<Display> {
    return new Display(await X11Connection.open(spec));
  }

  get isOpen(): boolean {
    return this.connection.isOpen;
  }

  /** Resolves with the reason when the connection has ended. */
  get closed(): Promise<string> {
    return this.connection.closed;
  }

  close(): void {
    this.connection.close();
  }
}
