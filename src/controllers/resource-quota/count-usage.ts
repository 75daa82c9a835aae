import { setImmediate } from 'node:timers/promises';
import type { ResourceQuota } from '../../apis/core/v1/resource-quota.types.js';
import type { ApiObject } from '../../machinery/api-object.js';
import type { Quantity } from '../../machinery/values/quantity.js';
import { addAmount } from '../../quota/amounts.js';
import type { MeasuredResource } from '../../quota/evaluators.js';
import { countsObject } from '../../quota/quota-scopes.js';
import { readStored, type StoredResources } from '../../registry/store/object-codec.js';
import type { ListPosition, Storage, StoredObject } from '../../storage/storage.interface.js';

/** Stands for an object that need not be looked at. */
const unread: ApiObject = { metadata: {} };

/** Objects are counted in pages, in turns with other work. */
const pageSize = 500;

export interface UsageCount {
  /** What is used, in the order of the quotas. */
  readonly used: readonly Map<string, Quantity>[];
  /** When some usage ends by itself, in milliseconds since 1970. */
  readonly endsAt: number | undefined;
}

/** What a count needs to know. */
export interface CountQuery {
  readonly namespace: string;
  /** The objects of this version are counted. */
  readonly at: bigint;
  readonly quotas: readonly (ResourceQuota & ApiObject)[];
  readonly resources: readonly MeasuredResource[];
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly signal: AbortSignal;
}

/** Counts what the objects of a namespace use of each quota, at one version. */
export async function countUsage(
  storage: Pick<Storage, 'list'>,
  registry: StoredResources,
  query: CountQuery,
): Promise<UsageCount> {
  const names = query.quotas.map(({ spec }) => Object.keys(spec.hard ?? {}));
  const used = names.map(() => new Map<string, Quantity>());
  let endsAt: number | undefined;
  for (const { storageResource, evaluator } of query.resources) {
    const wanted = names.map((all) => all.filter((name) => evaluator.measures(name)));
    if (wanted.every((own) => own.length === 0)) continue;
    for await (const item of objectsOf(storage, storageResource, query)) {
      const read = evaluator.isUniform === true ? unread : readStored(registry, item);
      const object = read instanceof Promise ? await read : read;
      const usage = evaluator.usage(object, query.now);
      const end = evaluator.endsAt?.(object);
      if (end !== undefined && end >= query.now) endsAt = Math.min(end, endsAt ?? end);
      for (const [i, { spec }] of query.quotas.entries()) {
        const own = wanted[i] as readonly string[];
        if (own.length === 0 || !countsObject(spec, evaluator, object)) continue;
        for (const name of own) {
          const amount = usage.get(name);
          if (amount !== undefined) addAmount(used[i] as Map<string, Quantity>, name, amount);
        }
      }
    }
  }
  return { used, endsAt };
}

async function* objectsOf(
  storage: Pick<Storage, 'list'>,
  resource: string,
  { namespace, at, signal }: CountQuery,
): AsyncGenerator<StoredObject> {
  let after: ListPosition | undefined;
  do {
    signal.throwIfAborted();
    const page = await storage.list({ resource, namespace, at, after, limit: pageSize });
    yield* page.items;
    const last = page.items.at(-1)?.key;
    after = page.more && last !== undefined ? { namespace: last.namespace, name: last.name } : undefined;
    await setImmediate();
  } while (after !== undefined);
}
