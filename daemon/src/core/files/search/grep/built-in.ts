/** Runs the built-in grep engine in a worker, so that no pattern blocks the daemon. */
import type { OpenWorker } from '../../../../platform/host/workers.ts';
import { type GrepBackend, type GrepFound, type GrepQuery, PatternError } from './query.ts';
import type { WorkerAnswer } from './worker.ts';

const nothing: GrepFound = { matches: [], filesSearched: null, skipped: [], skippedCount: null, isCut: false };

export class BuiltInGrep implements GrepBackend {
  readonly name = 'built-in';

  constructor(private readonly openWorker: OpenWorker) {}

  async search(query: GrepQuery, signal: AbortSignal): Promise<GrepFound> {
    using worker = this.openWorker('core/files/search/grep/worker');
    const answer = (await worker.ask(query, signal)) as WorkerAnswer | null;
    if (answer === null) return nothing; // The caller has cancelled the search.
    switch (answer.kind) {
      case 'found':
        return answer.found;
      case 'refused':
        throw new PatternError(answer.message);
      case 'failed':
        throw new Error(answer.message);
    }
  }
}
