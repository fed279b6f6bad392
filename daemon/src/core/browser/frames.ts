/** The frames of a page, those of other processes included, and the tags that refs carry. */
import { createHash } from '../../kit/crypto.ts';
import type { CdpResult } from '../../platform/clients/cdp-connection.ts';
import type { Session } from './session.ts';

export interface Frame {
  readonly id: string;
  /** Changes with every new document. */
  readonly loaderId: string;
  /** Null for the main frame. */
  readonly parentId: string | null;
  readonly url: string;
  /** Five characters that name this document among all documents of all tabs. */
  readonly tag: string;
  /** The session of the process that the frame is in. */
  readonly session: Session;
}

type FrameTree = CdpResult<'Page.getFrameTree'>['frameTree'];

/** More frames than a person could use; the rest is left out. */
export const maxFrames = 200;

export function framesOf(targetId: string, trees: readonly { tree: FrameTree; session: Session }[]): readonly Frame[] {
  const frames: Frame[] = [];
  const add = ({ frame, childFrames = [] }: FrameTree, session: Session) => {
    const { id, loaderId, parentId = null, url } = frame;
    frames.push({ id, loaderId, parentId, url, session, tag: tagOf(targetId, id, loaderId) });
    for (const child of childFrames) add(child, session);
  };
  for (const { tree, session } of trees) add(tree, session);
  return frames.slice(0, maxFrames);
}

/** 36^5 tags: two of 200 frames have the same one in 3 of 10 000 pages. */
const tagCharacters = 5;

function tagOf(...parts: readonly string[]): string {
  const digest = createHash('sha256').update(parts.join('/')).digest();
  return (digest.readUInt32BE() % 36 ** tagCharacters).toString(36).padStart(tagCharacters, '0');
}

/** The parts of a ref such as `e12-k3x9a`; null for any other text. */
export function readRef(ref: string): { readonly number: number; readonly tag: string } | null {
  const match = /^e(\d{1,9})-([0-9a-z]{5})$/.exec(ref);
  return match ? { number: Number(match[1]), tag: match[2]! } : null;
}

export function refOf(number: number, { tag }: Frame): string {
  return `e${number}-${tag}`;
}
