import type { ApiObject } from '../../base/machinery/api-object.js';
import { inTurns, mappedInSteps } from '../../base/machinery/turns.js';
import { parseStored } from '../../objects/registry/store/object-codec.js';
import type { Store } from '../../objects/registry/store/store.js';

/** The most objects of a page, which bounds how many are in memory at one time. */
const pageSize = 500;
const pageBytes = 4 * 1024 * 1024;

/**
 * All objects of a namespace, or of all namespaces, page by page, as of the newest state that is available without
 * waiting.
 */
export async function* readMetricPages(
  store: Store,
  namespace: string | undefined,
): AsyncGenerator<readonly ApiObject[]> {
  let after: { namespace: string; name: string } | undefined;
  for (;;) {
    const page = await store.list({ namespace, limit: pageSize, pageBytes, after, notOlderThan: 0n });
    yield await inTurns(mappedInSteps(page.items, (item) => parseStored(store.resource, item)));
    const last = page.items.at(-1);
    if (!page.more || last === undefined) return;
    after = { namespace: last.key.namespace, name: last.key.name };
  }
}
