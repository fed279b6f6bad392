/** What the frame of the console knows of a view. */
import type { Sandbox } from '../../../clients/typescript/src/index.ts';

/** A view that is open. */
export interface Page {
  /** Resolves when the page is shown. Throws a `BoxError` when the daemon refuses a request. */
  show(): Promise<void>;
  /** Shows another part of the same view. A page without this is closed and opened again. */
  goTo?(name: string): Promise<void>;
  close(): void;
}

export interface View {
  /** For the navigation; a view without one is reached from another view. */
  readonly title?: string;
  /** The capability that the view needs, by its name in `GET /v2/sandbox`. */
  readonly capability?: 'browser' | 'code_interpreter' | 'computer' | 'mcp';
  /** `name`: what the address names after the view, such as the id of a command; empty without one. */
  open(box: Sandbox, place: HTMLElement, name: string): Page | Promise<Page>;
}

/** The address of a view. The slashes of a path stay readable. */
export function addressOf(view: string, name = ''): string {
  const parts = name.split('/').map((part) => encodeURIComponent(part));
  return name === '' ? `#/${view}` : `#/${view}/${parts.join('/')}`;
}
