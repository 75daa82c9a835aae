import type { WorkQueue } from './work-queue.js';

/** Follows the store until the abort. */
interface Informer {
  /** Resolves when it has read everything once. */
  start(signal: AbortSignal): Promise<void>;
  stopped(): Promise<void>;
}

/**
 * The frame of a loop: works on its queue until the abort, while its informers follow the store. They start one after
 * the other. Returns when everything has ended.
 *
 * @throws what an informer threw at its start; then nothing goes on.
 */
export async function runWithInformers(
  queue: Pick<WorkQueue, 'run'>,
  informers: readonly Informer[],
  signal: AbortSignal,
): Promise<void> {
  const failed = new AbortController();
  const ended = AbortSignal.any([signal, failed.signal]);
  const started: Informer[] = [];
  const work = queue.run(ended);
  try {
    for (const informer of informers) {
      started.push(informer);
      await informer.start(ended);
    }
    await work;
  } finally {
    failed.abort();
    await Promise.all([work, ...started.map((informer) => informer.stopped())]);
  }
}
