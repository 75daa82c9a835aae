import type { ApiObject } from '../../../base/machinery/api-object.js';
import { Turn } from '../../../base/machinery/turns.js';
import { type Quantity, wholeQuantity } from '../../../base/machinery/values/quantity.js';
import type { ResourceQuota } from '../../../objects/apis/core/v1/resource-quota.types.js';
import { type Amounts, addAmount } from '../../../objects/quota/amounts.js';
import { countsObject } from '../../../objects/quota/quota-scopes.js';
import type { MeasuredResource } from '../../../objects/quota/usage-evaluators.js';
import type { StoredResources } from '../../../objects/registry/store/object-codec.js';
import { readWithoutManagers } from '../../../objects/registry/store/read-without-managers.js';
import { firstPageSize, mostPageBytes, nextPageSize } from '../../../storage/page-size.js';
import type { ListPosition, Storage, StoredObject } from '../../../storage/storage.interface.js';

/** Stands for an object that need not be read. */
const unread: ApiObject = { metadata: {} };

export interface UsageCount {
  /** The usage, in the order of the quotas. */
  readonly used: readonly Map<string, Quantity>[];
  /** When some usage ends by itself, in milliseconds since 1970. */
  readonly endsAt: number | undefined;
}

/** The inputs of a count. */
export interface CountQuery {
  readonly namespace: string;
  /** The objects are counted at this version. */
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
    const add = (object: ApiObject, usage: Amounts) => {
      for (const [i, { spec }] of query.quotas.entries()) {
        const own = wanted[i] as readonly string[];
        if (own.length === 0 || !countsObject(spec, evaluator, object)) continue;
        for (const name of own) {
          const amount = usage.get(name);
          if (amount !== undefined) addAmount(used[i] as Map<string, Quantity>, name, amount);
        }
      }
    };
    if (evaluator.isUniform === true) {
      const number = wholeQuantity(await numberOf(storage, storageResource, query));
      add(unread, new Map([...evaluator.usage(unread, query.now).keys()].map((name) => [name, number])));
      continue;
    }
    const turn = new Turn();
    for await (const item of objectsOf(storage, storageResource, query)) {
      const read = readWithoutManagers(registry, item);
      const object = read instanceof Promise ? await read : read;
      const end = evaluator.endsAt?.(object);
      if (end !== undefined && end >= query.now) endsAt = Math.min(end, endsAt ?? end);
      add(object, evaluator.usage(object, query.now));
      if (turn.isOver) await turn.next();
    }
  }
  return { used, endsAt };
}

/** Counts the objects without reading them: there may be very many. */
async function numberOf(
  storage: Pick<Storage, 'list'>,
  resource: string,
  { namespace, at, signal }: CountQuery,
): Promise<number> {
  signal.throwIfAborted();
  const { items, remaining = 0 } = await storage.list({ resource, namespace, at, limit: 1, countRemaining: true });
  return items.length + remaining;
}

async function* objectsOf(
  storage: Pick<Storage, 'list'>,
  resource: string,
  { namespace, at, signal }: CountQuery,
): AsyncGenerator<StoredObject> {
  let after: ListPosition | undefined;
  let limit = firstPageSize;
  do {
    signal.throwIfAborted();
    const page = await storage.list({ resource, namespace, at, after, limit, pageBytes: mostPageBytes });
    yield* page.items;
    limit = nextPageSize(page);
    const last = page.items.at(-1)?.key;
    after = page.more && last !== undefined ? { namespace: last.namespace, name: last.name } : undefined;
  } while (after !== undefined);
}
