import { setTimeout as delay } from 'node:timers/promises';
import { tooLargeResourceVersionError } from '../../machinery/status-error.js';
import type { Store } from '../../registry/store.js';

const patienceMs = 3000;
const stepMs = 50;

/**
 * Resolves once the store has reached `version` (reads "not older than" it). A version from the future gets a 504 after
 * a short wait, so that clients with versions of another store learn of it (specification 4.4).
 */
export async function waitForVersion(store: Store, version: bigint, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const head = await store.head();
    if (head >= version) return;
    if (performance.now() >= deadline) throw tooLargeResourceVersionError(version, head);
    await delay(stepMs, undefined, { signal });
  }
}
