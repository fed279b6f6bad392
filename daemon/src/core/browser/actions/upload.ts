/** Gives files to a file input of a page, or to the file chooser that an element opens. */
import { promises as fs } from 'node:fs';
import { CoreError } from '../../../kit/errors.ts';
import { aborted, Deadline } from '../../../kit/deadline.ts';
import type { CdpEvents } from '../../../platform/clients/cdp-connection.ts';
import type { Browser, PageCall, PageCallOptions, PageResult } from '../browser.ts';
import type { Frame } from '../frames.ts';
import type { RefTarget } from '../page.ts';
import type { Session } from '../session.ts';
import { actionOptions, clickElement, plainClick } from './click.ts';
import { findElement, subjectOf, type ElementName } from './element.ts';
import { settled, type Place } from './outcome.ts';
import { refused } from './refusal.ts';
import { inTurn, pause, untilReady, type Waiting } from './waiting.ts';

export interface UploadSpec extends PageCallOptions {
  readonly element: ElementName;
  /** Absolute paths on the machine of the browser. */
  readonly paths: readonly string[];
}

export interface Uploaded {
  readonly place: Place;
  /** The files that the input holds; null when the page has taken them and changed. */
  readonly files: readonly HeldFile[] | null;
}

export interface HeldFile {
  readonly name: string;
  readonly size: number;
}

interface FileInput {
  readonly kind: 'input';
  readonly number: number;
  readonly element: string;
  readonly takesSeveral: boolean;
  readonly takesDirectory: boolean;
}

type Chooser = CdpEvents['Page.fileChooserOpened'][0] & { readonly session: Session };

/** A page opens its chooser while it handles the click. */
const chooserMs = 3000;
/** The browser lists a directory after it has answered. An empty directory costs all looks. */
const maxDirectoryLooks = 20;
const directoryLookMs = 50;

/** Throws `ref_stale`, `bad_argument` and `page_timeout`. */
export async function upload(browser: Browser, spec: UploadSpec): Promise<PageResult<Uploaded>> {
  const paths = isLocal(browser.address) ? await Promise.all(spec.paths.map(pathOnDisk)) : null;
  return await browser.onPage(actionOptions(spec), async (call) => {
    const target = await findElement(call, spec.element);
    let files: readonly HeldFile[] | null = null;
    const place = await settled(call, async () => {
      files = await give(call, target, spec, paths);
    });
    return { place, files };
  });
}

/** Files of another machine cannot be checked from here. */
function isLocal(address: string): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\]):\d+$/.test(address);
}

interface PathOnDisk {
  readonly path: string;
  readonly isDirectory: boolean;
}

async function pathOnDisk(path: string): Promise<PathOnDisk> {
  try {
    // The browser may run as an account that can read more than that of the daemon.
    await fs.access(path, fs.constants.R_OK);
    return { path, isDirectory: (await fs.stat(path)).isDirectory() };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const state = code === 'ENOENT' ? 'does not exist' : `cannot be read: ${code}`;
    throw new CoreError('bad_argument', `the file ${path} ${state}`, {
      hint: 'Pass the path of a file on this machine. A relative path starts in the workspace.',
      next: { operation: 'files.stat' },
    });
  }
}

/** Returns the files that the input holds; null when the page has taken them and changed. */
async function give(
  call: PageCall,
  target: RefTarget,
  { element, paths }: UploadSpec,
  onDisk: readonly PathOnDisk[] | null,
): Promise<readonly HeldFile[] | null> {
  const { page, signal } = call;
  const subject = subjectOf(element);
  const found = await untilReady<FileInput | { kind: 'other' }>(call, subject, () =>
    page.callOn<FileInput | { kind: 'other' } | Waiting>(target, 'fileInput', {}, signal),
  );
  if (found.kind === 'other') {
    return await inTurn(call, 'chooser', () => giveToChooser(call, target, { element, paths }));
  }
  const why = reasonAgainst(found, paths, onDisk);
  if (why !== null) throw refused(subject, { kind: 'refused', why, element: found.element });
  const input = { frame: target.frame, number: found.number };
  const objectId = await page.objectOf(input, signal);
  await target.frame.session.send('DOM.setFileInputFiles', { files: [...paths], objectId }, signal);
  let files = await heldBy(call, target.frame, objectId);
  for (let look = 0; found.takesDirectory && files.length === 0 && look < maxDirectoryLooks; look++) {
    await pause(directoryLookMs, signal);
    files = await heldBy(call, target.frame, objectId);
  }
  return files;
}

function reasonAgainst(
  { takesSeveral, takesDirectory }: FileInput,
  paths: readonly string[],
  onDisk: readonly PathOnDisk[] | null,
): string | null {
  const directory = onDisk?.find(({ isDirectory }) => isDirectory);
  const file = onDisk?.find(({ isDirectory }) => !isDirectory);
  if (takesDirectory && paths.length > 1) return `takes one directory, and ${paths.length} paths were given`;
  if (takesDirectory && file) return `takes a directory, and ${file.path} is a file`;
  if (!takesDirectory && directory) return `takes files, and ${directory.path} is a directory`;
  if (!takesSeveral && !takesDirectory && paths.length > 1) return `takes one file, and ${paths.length} were given`;
  return null;
}

/** Clicks the element and answers the file chooser that opens. */
async function giveToChooser(
  call: PageCall,
  target: RefTarget,
  { element, paths }: Pick<UploadSpec, 'element' | 'paths'>,
): Promise<readonly HeldFile[] | null> {
  const { page, signal } = call;
  const { frame } = target;
  const sessions = [...new Set([page.session, frame.session])];
  using choosers = await interceptChoosers(sessions, signal);
  await clickElement(call, target, { element, ...plainClick });
  const chooser = await choosers.opened();
  const subject = subjectOf(element);
  if (chooser?.backendNodeId === undefined) {
    throw new CoreError(
      'bad_argument',
      `${subject} is not a file input, and a click on the element opened no file chooser`,
      {
        hint: 'Pass the ref of the file input, of its label, or of the button that opens the file chooser.',
        next: { operation: 'browser.snapshot' },
      },
    );
  }
  const { mode, backendNodeId, session } = chooser;
  if (mode === 'selectSingle' && paths.length > 1) {
    throw new CoreError('bad_argument', `${subject} takes one file, and ${paths.length} were given`);
  }
  await session.send('DOM.setFileInputFiles', { files: [...paths], backendNodeId }, signal);
  const objectId = await page.worlds.resolve(frame, backendNodeId, signal);
  return objectId === null ? null : await heldBy(call, frame, objectId);
}

async function interceptChoosers(sessions: readonly Session[], signal: AbortSignal) {
  let found: Chooser | null = null;
  const end = new Deadline(chooserMs, signal);
  const arrival = new Deadline(null, end.signal);
  const removals = sessions.map((session) =>
    session.on('Page.fileChooserOpened', (event) => {
      found = { ...event, session };
      arrival[Symbol.dispose]();
    }),
  );
  await Promise.all(
    sessions.map((session) => session.send('Page.setInterceptFileChooserDialog', { enabled: true }, signal)),
  );
  return {
    /** Null when none has opened in time. */
    async opened(): Promise<Chooser | null> {
      await aborted(arrival.signal);
      return found;
    },
    [Symbol.dispose]() {
      for (const remove of removals) remove();
      for (const session of sessions) session.tell('Page.setInterceptFileChooserDialog', { enabled: false });
      arrival[Symbol.dispose]();
      end[Symbol.dispose]();
    },
  };
}

async function heldBy({ signal }: PageCall, { session }: Frame, objectId: string): Promise<readonly HeldFile[]> {
  const heldFiles = 'function () { return globalThis.boxkeep.heldFiles(this); }';
  return (await session.valueOn<{ files: readonly HeldFile[] }>(objectId, heldFiles, [], signal)).files;
}
