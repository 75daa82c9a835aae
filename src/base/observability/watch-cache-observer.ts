import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
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
    filled: (resource: string, objects: number, durationMs: number) => {
      fills.observe(durationMs / 1000);
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
      for (const metric of Object.values(ofResource)) metric.remove(groupResourceLabels(resource));
    },
    backgroundError: (where: string, error: unknown) => logger.warn('background fault', { where, error }),
  };
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
