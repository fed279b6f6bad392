/** Defines the inotify(7) bits that watchers use. */

export const inotify = {
  modify: 0x2,
  attrib: 0x4,
  movedFrom: 0x40,
  movedTo: 0x80,
  create: 0x100,
  delete: 0x200,
  deleteSelf: 0x400,
  moveSelf: 0x800,
  unmount: 0x2000,
  overflow: 0x4000,
  ignored: 0x8000,
  isDirectory: 0x4000_0000,
} as const;

const { modify, attrib, movedFrom, movedTo, create, deleteSelf, moveSelf } = inotify;

/** A write is reported when bytes arrive. A close event might never come. */
export const directoryMask = modify | attrib | movedFrom | movedTo | create | inotify.delete | deleteSelf | moveSelf;
/** Mask for the parent of the root, to detect that the root is removed or moved away. */
export const guardMask = movedFrom | inotify.delete;
