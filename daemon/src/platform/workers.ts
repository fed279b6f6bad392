/** Threads for what would hold up the event loop: a module of the daemon in a worker, one question and its answer. */

export interface WorkerHandle extends Disposable {
  /** The first message that it sends; null when the signal aborts before. Rejects when the module fails. */
  ask(question: unknown, signal: AbortSignal): Promise<unknown>;
}

/** `module` is a path below `daemon/src`, without its ending; `tools/build.mjs` names it as an entry of its own. */
export type OpenWorker = (module: string) => WorkerHandle;

/** In the built file every module has the path that it has below `daemon/src`, and this one is part of `main`. */
const isBuilt = import.meta.url.includes('$bunfs');

export const openWorker: OpenWorker = (module) => {
  const worker = new Worker(new URL(isBuilt ? `./${module}.js` : `../${module}.ts`, import.meta.url));
  return {
    async ask(question, signal) {
      const answered = Promise.withResolvers<unknown>();
      const leave = (): void => answered.resolve(null);
      worker.addEventListener('message', ({ data }: MessageEvent) => answered.resolve(data));
      worker.addEventListener('error', ({ message }) => answered.reject(new Error(`${module}: ${message}`)));
      signal.addEventListener('abort', leave, { once: true });
      if (signal.aborted) leave();
      worker.postMessage(question);
      try {
        return await answered.promise;
      } finally {
        signal.removeEventListener('abort', leave);
      }
    },
    [Symbol.dispose]: () => worker.terminate(),
  };
};
