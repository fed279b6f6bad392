/** Runs a module of the daemon in a worker thread, so that long work does not block the event loop. */
import { isBuilt } from './built.ts';

export interface WorkerHandle extends Disposable {
  /** The worker's first message, or null when the signal aborts first. Rejects when the module fails. */
  ask(question: unknown, signal: AbortSignal): Promise<unknown>;
}

/** `module` is a path below `daemon/src`, without its extension; `tools/build.mjs` lists it as an entry point. */
export type OpenWorker = (module: string) => WorkerHandle;

export const openWorker: OpenWorker = (module) => {
  // In the built file, this module is part of `main`.
  const worker = new Worker(new URL(isBuilt ? `./${module}.js` : `../../${module}.ts`, import.meta.url));
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
