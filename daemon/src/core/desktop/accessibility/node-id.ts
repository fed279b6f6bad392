/** Node ids: the bus, the connection and the path of an accessible object as one text, stable while the object lives. */
import { advise } from '../../../kit/advice.ts';
import { CoreError } from '../../../kit/errors.ts';
import type { DbusObject } from '../../../platform/dbus/connection.ts';

/** Most toolkits name their objects below this path. */
const commonPath = '/org/a11y/atspi/accessible/';
/** Enough of the identifier of a bus to notice that the bus has restarted and reuses its names. */
const guidCharacters = 8;

export function nodeIdOf({ bus, path }: DbusObject, guid: string): string {
  const tail = path.startsWith(commonPath) ? path.slice(commonPath.length) : path;
  return `${guid.slice(0, guidCharacters)}-${bus.slice(1)}-${tail}`;
}

/** Throws `bad_argument` for a text that no tree has contained, and `ref_stale` for an id of an earlier bus. */
export function objectOf(id: string, guid: string): DbusObject {
  const [, idGuid, name, tail = ''] = /^([\da-f]{8})-(\d+\.\d+)-([\w/]{1,400})$/.exec(id) ?? [];
  const path = tail.startsWith('/') ? tail : `${commonPath}${tail}`;
  if (name === undefined || !/^(?:\/\w+)+$/.test(path)) {
    throw new CoreError('bad_argument', `${JSON.stringify(id.slice(0, 100))} is not the id of a node`, {
      advice: advise`Pass a ${'nodeId'} from the accessibility tree.`,
    });
  }
  if (idGuid !== guid.slice(0, guidCharacters)) throw goneNode(id);
  return { bus: `:${name}`, path };
}

export function goneNode(id: string): CoreError {
  return new CoreError('ref_stale', `node ${id} is not on the desktop any more`, {
    advice: advise`Read the accessibility tree again, and use its ${'nodeId'}.`,
  });
}
