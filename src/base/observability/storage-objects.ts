import { Gauge, type Registry } from 'prom-client';
import { groupResourceLabels } from './group-resource-labels.js';

/** Numbers of stored objects by resource, and the size of the database. */
export interface StorageCensus {
  readonly objects: ReadonlyMap<string, number>;
  readonly bytes: number;
}

/** A scrape starts a new count when the last one is at least this old, in milliseconds. */
const countEveryMs = 60_000;

/**
 * Registers the numbers of stored objects. The database counts them, at most once a minute and only while metrics are
 * scraped; a scrape never waits for the count, and shows the previous one.
 *
 * @param take counts the objects; after a failure the last count remains
 */
export function registerStorageObjects(
  registry: Registry,
  take: () => Promise<StorageCensus>,
  now: () => number = () => performance.now(),
): void {
  const registers = [registry];
  let countedAt = Number.NEGATIVE_INFINITY;
  let last: StorageCensus | undefined;
  const recount = (): void => {
    if (now() - countedAt < countEveryMs) return;
    countedAt = now();
    take().then(
      (census) => {
        last = census;
      },
      () => undefined,
    );
  };
  new Gauge({
    name: 'apiserver_storage_objects',
    help: 'Stored objects by resource, at the last count (at most once a minute).',
    labelNames: ['resource'],
    registers,
    collect() {
      recount();
      this.reset();
      for (const [resource, count] of last?.objects ?? []) this.set({ resource }, count);
    },
  });
  new Gauge({
    name: 'apiserver_resource_objects',
    help: 'The same, with the group apart.',
    labelNames: ['group', 'resource'],
    registers,
    collect() {
      this.reset();
      for (const [resource, count] of last?.objects ?? []) this.set(groupResourceLabels(resource), count);
    },
  });
  new Gauge({
    name: 'apiserver_storage_size_bytes',
    help: 'Size of the database at the last count.',
    labelNames: ['storage_cluster_id'],
    registers,
    collect() {
      this.reset();
      if (last !== undefined) this.set({ storage_cluster_id: 'postgresql' }, last.bytes);
    },
  });
}
