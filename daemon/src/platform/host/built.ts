/** Whether the daemon runs as a built file or from its sources. */

/** In the built file, every module keeps its path below `daemon/src`, in a file system of the runtime. */
export const isBuilt = import.meta.url.includes('$bunfs');
