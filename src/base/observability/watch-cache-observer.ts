import { Counter, Gauge, Histogram, type Metric, type Registry } from 'prom-client';
import { groupResourceLabels } from './group-resource-labels.js';
import type { Logger } from './logger.js';

/** The size of one watch cache. */
interface CacheStatistics {
  readonly resource: string;
  readonly objects: number;
  readonly bytes: number;
  readonly watchers: number;
}

/**
 * Turns the events that watch caches report into metrics and log lines.
 *
 * @param statistics called when metrics are collected
 * @param formBytes the memory of encoded objects, in bytes; called at the same time
 * @param backlogCharacters the length of the changes that watchers have not received yet, in characters; called at the
 * same time
 */
export function watchCacheObserver(
  registry: Registry,
  logger: Logger,
  statistics: () => Iterable<CacheStatistics>,
  formBytes: () => number,
  backlogCharacters: () => number,
) {
  addMemoryGauges(registry, formBytes, backlogCharacters);
  addSizeGauges(registry, statistics);
  const { reads, fills, drops, slow } = addEventMetrics(registry);
  const ofResource = cacheSeries([registry]);
  return {
    received: (resource: string, changes: number, position: bigint) => {
      const labels = groupResourceLabels(resource);
      ofResource.position.set(labels, Number(position));
      if (changes === 0) return;
      ofResource.storageEvents.inc(labels, changes);
      ofResource.events.inc(labels, changes);
    },
    read: (resource: string, fromCache: boolean) => reads.inc({ resource, result: fromCache ? 'hit' : 'miss' }),
    listed: (resource: string, fromCache: boolean, objects: number, durationMs: number) => {
      const labels = groupResourceLabels(resource);
      const storage = fromCache ? 'watchcache' : 'postgresql';
      ofResource.lists.inc({ ...labels, index: '', storage });
      ofResource.listedObjects.inc({ ...labels, index: '', storage }, objects);
      if (!fromCache) ofResource.listTimes.observe({ ...labels, streamed: 'false' }, durationMs / 1000);
    },
    waited: (resource: string, durationMs: number) =>
      ofResource.waits.observe(groupResourceLabels(resource), durationMs / 1000),
    readNewest: (resource: string, fromCache: boolean) =>
      ofResource.newestReads.inc({
        ...groupResourceLabels(resource),
        success: String(fromCache),
        fallback: String(!fromCache),
      }),
    dispatched: (resource: string, changes: number) =>
      ofResource.dispatched.inc(groupResourceLabels(resource), changes),
    filled: (resource: string, objects: number, durationMs: number) => {
      fills.observe(durationMs / 1000);
      ofResource.loaded.inc(groupResourceLabels(resource), objects);
      ofResource.fills.inc(groupResourceLabels(resource));
      ofResource.fillTimes.observe(groupResourceLabels(resource), durationMs / 1000);
      logger.debug('watch cache filled', { resource, objects, durationMs: Math.round(durationMs) });
    },
    dropped: (resource: string, reason: string) => {
      drops.inc({ resource, reason });
      if (reason === 'idle' || reason === 'gone') logger.debug('watch cache dropped', { resource, reason });
      else logger.warn('watch cache dropped', { resource, reason });
    },
    slowConsumer: (resource: string) => {
      slow.inc({ resource });
      logger.warn('watch ended, it fell behind', { resource });
    },
    gone: (resource: string) => {
      for (const result of ['hit', 'miss']) reads.remove({ resource, result });
      for (const reason of ['idle', 'budget', 'feed', 'epoch', 'gone']) drops.remove({ resource, reason });
      slow.remove({ resource });
      const labels = groupResourceLabels(resource);
      for (const metric of Object.values(ofResource)) void removeAll(metric, labels);
    },
    backgroundError: (where: string, error: unknown) => logger.warn('background fault', { where, error }),
  };
}

/** Removes all series of a resource, whatever their other labels. */
async function removeAll(metric: Metric, { group, resource }: ReturnType<typeof groupResourceLabels>): Promise<void> {
  const { values } = await metric.get();
  for (const { labels } of values) {
    const { le: _bucket, ...series } = labels as Record<string, string>;
    if (series.group === group && series.resource === resource) metric.remove(series as never);
  }
}

function addMemoryGauges(registry: Registry, formBytes: () => number, backlogCharacters: () => number): void {
  const registers = [registry];
  new Gauge({
    name: 'plinth_watch_cache_form_bytes',
    help: 'Memory of forms of objects that lists are made of, such as protobuf.',
    registers,
    collect() {
      this.set(formBytes());
    },
  });
  new Gauge({
    name: 'plinth_watch_backlog_characters',
    help: 'Text of recent changes that some watch has not got yet; each change counts once.',
    registers,
    collect() {
      this.set(backlogCharacters());
    },
  });
}

function addSizeGauges(registry: Registry, statistics: () => Iterable<CacheStatistics>): void {
  const registers = [registry];
  const gauges = {
    objects: new Gauge({
      name: 'plinth_watch_cache_objects',
      help: 'Objects held in memory, by resource.',
      labelNames: ['resource'],
      registers,
      // The first of these gauges sets the values of all, because they are collected in the order of their
      // registration.
      collect: () => collect(),
    }),
    bytes: new Gauge({
      name: 'plinth_watch_cache_bytes',
      help: 'Estimated memory of objects and recent changes held, by resource.',
      labelNames: ['resource'],
      registers,
    }),
    watchers: new Gauge({
      name: 'plinth_watch_cache_watchers',
      help: 'Watches served from memory, by resource.',
      labelNames: ['resource'],
      registers,
    }),
  };
  function collect(): void {
    for (const gauge of Object.values(gauges)) gauge.reset();
    for (const { resource, objects, bytes, watchers } of statistics()) {
      gauges.objects.set({ resource }, objects);
      gauges.bytes.set({ resource }, bytes);
      gauges.watchers.set({ resource }, watchers);
    }
  }
}

function addEventMetrics(registry: Registry) {
  const registers = [registry];
  const reads = new Counter({
    name: 'plinth_watch_cache_reads_total',
    help: 'Reads that memory could answer (hit) or that went to the database (miss), by resource.',
    labelNames: ['resource', 'result'],
    registers,
  });
  const fills = new Histogram({
    name: 'plinth_watch_cache_fill_duration_seconds',
    help: 'Time to read all objects of a resource into memory.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers,
  });
  const drops = new Counter({
    name: 'plinth_watch_cache_drops_total',
    help: 'Watch caches that were dropped, by reason.',
    labelNames: ['resource', 'reason'],
    registers,
  });
  const slow = new Counter({
    name: 'plinth_watch_cache_slow_watchers_total',
    help: 'Watches ended because their client did not read them fast enough, by resource.',
    labelNames: ['resource'],
    registers,
  });
  return { reads, fills, drops, slow };
}

/** The series of each cache, under the names that the reference server uses. */
function cacheSeries(registers: Registry[]) {
  const labelNames = ['group', 'resource'] as const;
  return {
    storageEvents: new Counter({
      name: 'apiserver_storage_events_received_total',
      help: 'Changes that the watch caches of this process received from the database.',
      labelNames,
      registers,
    }),
    events: new Counter({
      name: 'apiserver_watch_cache_events_received_total',
      help: 'Changes that watch caches took in: the same ones.',
      labelNames,
      registers,
    }),
    position: new Gauge({
      name: 'apiserver_watch_cache_resource_version',
      help: 'The version that the watch cache of a resource shows.',
      labelNames,
      registers,
    }),
    dispatched: new Counter({
      name: 'apiserver_watch_cache_events_dispatched_total',
      help: 'Changes that watch caches handed on to watches; each counts once, however many watches get it.',
      labelNames,
      registers,
    }),
    loaded: new Counter({
      name: 'apiserver_init_events_total',
      help: 'Objects that watch caches were filled with.',
      labelNames,
      registers,
    }),
    waits: new Histogram({
      name: 'apiserver_watch_cache_read_wait_seconds',
      help: 'Time that reads waited for a watch cache to become as new as they needed it.',
      buckets: [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3],
      labelNames,
      registers,
    }),
    newestReads: new Counter({
      name: 'apiserver_watch_cache_consistent_read_total',
      help: 'Lists of the newest state by whether the watch cache was new enough in time; if not, the database answered.',
      labelNames: [...labelNames, 'success', 'fallback'],
      registers,
    }),
    ...listSeries(registers),
    fills: new Counter({
      name: 'apiserver_watch_cache_initializations_total',
      help: 'How often the watch cache of a resource was filled.',
      labelNames,
      registers,
    }),
    fillTimes: new Histogram({
      name: 'apiserver_watch_cache_initialization_duration_seconds',
      help: 'Time to fill the watch cache of a resource.',
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600],
      labelNames,
      registers,
    }),
  };
}

/** Lists, from memory and from the database. */
function listSeries(registers: Registry[]) {
  const labelNames = ['group', 'resource', 'index', 'storage'] as const;
  return {
    lists: new Counter({
      name: 'apiserver_storage_list_total',
      help: 'Lists by what answered them: watchcache (memory) or postgresql.',
      labelNames,
      registers,
    }),
    listedObjects: new Counter({
      name: 'apiserver_storage_list_fetched_objects_total',
      help: 'Objects that these lists read.',
      labelNames,
      registers,
    }),
    listTimes: new Histogram({
      name: 'apiserver_storage_list_duration_seconds',
      help: 'Time of lists that the database answered.',
      labelNames: ['group', 'resource', 'streamed'],
      buckets: [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60],
      registers,
    }),
  };
}
