/** Hides the machine's interpreters from one daemon by a separate mount namespace. */

const hide =
  'for f in /usr/bin/python3* /usr/bin/node*; do [ -L "$f" ] || mount --bind /dev/null "$f"; done; exec "$@"';

/** The launcher of such a daemon. */
export const withoutInterpreters = ['unshare', '--mount', 'sh', '-c', hide, 'sh'] as const;
