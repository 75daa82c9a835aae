import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { ChangeLogMetrics } from './change-log-metrics.js';
import { encodeFamilies } from './encode-families.js';
import { ExpressionMetrics } from './expression-metrics.js';
import { FieldValidationMetrics } from './field-validation-metrics.js';
import { FilterMetrics } from './filter-metrics.js';
import type { FlowPage, FlowTable } from './flow-table.js';
import { HealthMetrics } from './health-metrics.js';
import { loopLagNames, registerLoopLag } from './loop-lag.js';
import type { MetricFamilies } from './metric-families.js';
import { markStability } from './metric-stability.js';
import { withNatives } from './natives.js';
import { OutgoingMetrics } from './outgoing-metrics.js';
import { type BuildInfo, registerProcessMetrics } from './process-metrics.js';
import { QueueMetrics } from './queue-metrics.js';
import { registerRegistryMetrics } from './registry-metrics.js';
import { component, type RequestLabels, RequestMetrics, type RequestOutcome } from './request-metrics.js';
import { StorageMetrics } from './storage-metrics.js';
import { WatchMetrics, type WatchSeries } from './watch-metrics.js';

export type { MetricFamilies } from './metric-families.js';
export type { RequestLabels } from './request-metrics.js';

type RequestKind = 'readOnly' | 'mutating' | 'unauthenticated';

interface GroupResourceKind {
  readonly group: string;
  readonly kind: string;
}

/** The longest time of a timer, in milliseconds. */
const neverMs = 2 ** 31 - 1;
/** How long the series of a resource that is no longer served are kept, in milliseconds. */
const goneSeriesMs = 30_000;
const requestLabels = ['verb', 'group', 'version', 'resource', 'subresource', 'scope'] as const;
/** The pages of metrics: `/metrics` and `/metrics/slis`. */
export type MetricsPage = 'all' | 'slis';

/** The format of a scrape. Only protobuf includes native histograms. */
export type MetricsForm = 'text' | 'protobuf';

/** What the metrics need to know of a worker. Several workers serve the same port. */
export interface MetricsWorker {
  /** The number of the worker, which its series have as the label `worker`. */
  readonly index: number;
  /** A scrape over all processes, in protobuf as base64; undefined when it is not available. */
  gatherMetrics(page: MetricsPage, form: MetricsForm): Promise<string | undefined>;
  /** The state of flow control in all processes; undefined when it is not available. */
  gatherFlows(page: FlowPage): Promise<FlowTable | undefined>;
}

/** The scrape over several processes, whose series differ by a label. */
export function mergeFamilies(processes: readonly MetricFamilies[]): Promise<string> {
  // Nothing is added up, as no two series have the same labels. Other ways of aggregating would leave some out.
  return summed(processes).metrics();
}

/** Adds up series with the same names and labels that were counted in several places. */
export async function addUp(places: readonly MetricFamilies[]): Promise<MetricFamilies> {
  return (await summed(places).getMetricsAsJSON()) as unknown as MetricFamilies;
}

function summed(places: readonly MetricFamilies[]): Registry {
  const families = places.map((each) => each.map((family) => ({ ...family, aggregator: 'sum' })));
  return AggregatorRegistry.aggregate(families as unknown as object[]);
}

/**
 * The metrics of one process, under the names that the reference server uses.
 *
 * A module registers metrics of its own in a class beside its code, which receives the {@link registry} of the injected
 * `Metrics` in its constructor, once per process: see `authentication/authentication-metrics.ts`. The rules: the name
 * and labels are the established ones if the reference server has the metric, otherwise the name begins with `plinth_`;
 * label values are few and never chosen by a client; series that may matter later exist from the start, so that a first
 * failure is a rise from 0; what is counted more than once per request uses {@link SeriesHistogram} or {@link
 * CollectedMetric} with plain numbers. Workers and threads need nothing more: each process has its own registry, and a
 * scrape shows all of them. Afterwards `npm run docs:metrics` brings docs/metrics.md up to date, and a test fails until
 * it is.
 */
export class Metrics {
  readonly registry = new Registry();
  /** The outcomes of health checks, which have a page of their own. */
  readonly health = new HealthMetrics();
  /** Metrics of the calls that this process makes to other servers. */
  readonly outgoing: OutgoingMetrics;
  /** Metrics of the queues of this process. */
  readonly queues: QueueMetrics;
  /** The time of requests before they are handled. */
  readonly filters: FilterMetrics;
  readonly fieldValidation: FieldValidationMetrics;
  /** Metrics of database calls. */
  readonly storage: StorageMetrics;
  readonly changeLog: ChangeLogMetrics;
  /** Metrics of the validation rules of custom resources. */
  readonly expressions: ExpressionMetrics;
  private readonly watchEvents: WatchMetrics;
  private readonly requests: RequestMetrics;
  /** Plain numbers that are read at each scrape, because they change twice with every request. */
  private readonly inFlight: Record<RequestKind, number> = { readOnly: 0, mutating: 0, unauthenticated: 0 };
  private readonly longRunning: Gauge<(typeof requestLabels)[number] | 'component'>;
  private readonly watchers: Gauge<'group' | 'version' | 'kind'>;
  private readonly endedWatches: Counter<'group' | 'kind' | 'reason'>;
  private readonly handshakeErrors: Counter<string>;
  private readonly afterTimeout: Counter<'source' | 'status'>;
  private readonly deprecated: Gauge<'group' | 'version' | 'resource' | 'subresource' | 'removed_release'>;
  private readonly rejected: Counter<'request_kind'>;
  private readonly gone = new Map<string, GroupResourceKind & { readonly resource: string }>();
  private sweep: NodeJS.Timeout | undefined;
  private readonly elsewhere: (() => readonly MetricFamilies[])[] = [];

  /** The number of this process among several behind one port; undefined when it is the only one. */
  get workerIndex(): number | undefined {
    return this.worker?.index;
  }

  /** @param worker set in a process that is one of several behind the same port */
  constructor(readonly worker?: MetricsWorker) {
    const registers = [this.registry];
    if (worker !== undefined) {
      for (const registry of [this.registry, this.health.registry]) {
        registry.setDefaultLabels({ worker: String(worker.index) });
      }
    }
    // The library would wake the process a hundred times a second for the lag of the event loop.
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: neverMs });
    for (const name of loopLagNames) this.registry.removeSingleMetric(name);
    registerLoopLag(this.registry);
    registerRegistryMetrics(this.registry);
    this.outgoing = new OutgoingMetrics(this.registry);
    this.queues = new QueueMetrics(this.registry, () => performance.now());
    this.watchEvents = new WatchMetrics(this.registry);
    this.requests = new RequestMetrics(this.registry);
    this.filters = new FilterMetrics(this.registry);
    this.fieldValidation = new FieldValidationMetrics(this.registry);
    gaugeInFlight(this.inFlight, registers);
    this.longRunning = new Gauge({
      name: 'apiserver_longrunning_requests',
      help: 'Long-running requests (watches, streams) that are open.',
      labelNames: [...requestLabels, 'component'],
      registers,
    });
    this.watchers = new Gauge({
      name: 'plinth_registered_watchers',
      help: 'Open watches by kind.',
      labelNames: ['group', 'version', 'kind'],
      registers,
    });
    this.endedWatches = new Counter({
      name: 'apiserver_terminated_watchers_total',
      help: 'Watches the server had to end with an error.',
      labelNames: ['group', 'kind', 'reason'],
      registers,
    });
    this.handshakeErrors = new Counter({
      name: 'apiserver_tls_handshake_errors_total',
      help: 'Connections that ended before their TLS handshake was complete.',
      registers,
    });
    this.afterTimeout = new Counter({
      name: 'apiserver_request_post_timeout_total',
      help: 'Requests whose work went on after the time limit had answered, by how it ended (ok or error).',
      labelNames: ['source', 'status'],
      registers,
    });
    for (const status of ['ok', 'error']) this.afterTimeout.inc({ source: 'rest-handler', status }, 0);
    this.deprecated = new Gauge({
      name: 'apiserver_requested_deprecated_apis',
      help: 'Deprecated versions requested since the start.',
      labelNames: ['group', 'version', 'resource', 'subresource', 'removed_release'],
      registers,
    });
    this.rejected = new Counter({
      name: 'apiserver_dropped_requests_total',
      help: 'Requests refused because too many were in flight.',
      labelNames: ['request_kind'],
      registers,
    });
    this.storage = new StorageMetrics(this.registry);
    this.changeLog = new ChangeLogMetrics(this.registry);
    this.expressions = new ExpressionMetrics(this.registry);
  }

  /**
   * Adds the counts of this process's threads to the process's own counts of the same names. Nothing may be counted in
   * both places.
   */
  addCounts(counts: () => readonly MetricFamilies[]): void {
    this.elsewhere.push(counts);
  }

  /** The scrape of this process, or of all processes on the port, whichever of them received the request. */
  async scrape(page: MetricsPage = 'all'): Promise<{ readonly contentType: string; readonly text: string }> {
    const registry = this.pageOf(page);
    const text =
      (await this.worker?.gatherMetrics(page, 'text')) ??
      (this.countsElsewhere(page).length === 0
        ? await registry.metrics()
        : await mergeFamilies([await this.families(page)]));
    return { contentType: `${registry.contentType}; escaping=underscores`, text: markStability(text) };
  }

  /** The metrics of this process alone, as values. */
  async families(page: MetricsPage = 'all', form: MetricsForm = 'text'): Promise<MetricFamilies> {
    const own = (await this.pageOf(page).getMetricsAsJSON()) as unknown as MetricFamilies;
    const elsewhere = this.countsElsewhere(page);
    const all =
      elsewhere.length === 0 ? own : await addUp([own, ...elsewhere.map((families) => this.labelled(families))]);
    return form === 'text' ? all : withNatives(all, [own]);
  }

  /** {@link scrape} in protobuf: messages `io.prometheus.client.MetricFamily`, each preceded by its length. */
  async scrapeProtobuf(page: MetricsPage = 'all'): Promise<Buffer> {
    const gathered = await this.worker?.gatherMetrics(page, 'protobuf');
    if (gathered !== undefined) return Buffer.from(gathered, 'base64');
    return encodeFamilies(await this.families(page, 'protobuf'));
  }

  private countsElsewhere(page: MetricsPage): readonly MetricFamilies[] {
    return page === 'all' ? this.elsewhere.flatMap((counts) => counts()) : [];
  }

  /** Adds the label that all series of a worker have. */
  private labelled(families: MetricFamilies): MetricFamilies {
    if (this.worker === undefined) return families;
    const worker = String(this.worker.index);
    return families.map((family) => ({
      ...family,
      values: (family.values ?? []).map((value) => ({ ...value, labels: { ...value.labels, worker } })),
    }));
  }

  private pageOf(page: MetricsPage): Registry {
    return page === 'slis' ? this.health.registry : this.registry;
  }

  /** Sets the identity of this program; to be called once. */
  setBuild(build: BuildInfo): void {
    registerProcessMetrics(this.registry, build);
  }

  /** For a process that will serve requests: creates the series that dashboards expect at the start. */
  expectRequests(): void {
    this.requests.expect();
  }

  /** Counts a finished request. */
  requestDone(labels: RequestLabels, outcome: RequestOutcome): void {
    this.requests.done(labels, outcome);
  }

  tlsHandshakeFailed(): void {
    this.handshakeErrors.inc();
  }

  /** Counts a request whose work finished after its client had received the timeout. */
  endedAfterTimeout(status: 'ok' | 'error'): void {
    this.afterTimeout.inc({ source: 'rest-handler', status });
  }

  setInFlight(requestKind: RequestKind, count: number): void {
    this.inFlight[requestKind] = count;
  }

  requestRejected(requestKind: RequestKind): void {
    this.rejected.inc({ request_kind: requestKind });
  }

  deprecatedRequest(
    labels: Record<'group' | 'version' | 'resource' | 'subresource' | 'removed_release', string>,
  ): void {
    this.deprecated.set(labels, 1);
  }

  /**
   * Counts a long-running request, other than a watch of this server, as begun. The returned function reports its end.
   */
  longRunningStarted(labels: RequestLabels): () => void {
    this.longRunning.inc({ ...labels, component });
    return () => this.longRunning.dec({ ...labels, component });
  }

  /** The counters for the watch events of a resource. */
  watchSeries({ group, resource }: Pick<RequestLabels, 'group' | 'resource'>, version: string): WatchSeries {
    return this.watchEvents.of({ group, version, resource });
  }

  /** Counts the initial list of a watch, after all its objects have been sent. */
  watchListDone({ group, version, resource, scope }: RequestLabels, seconds: number): void {
    this.watchEvents.listDone({ group, version, resource, scope }, seconds);
  }

  watchStarted({ group, kind }: GroupResourceKind, labels: RequestLabels): void {
    this.watchers.inc({ group, version: labels.version, kind });
    this.longRunning.inc({ ...labels, component });
  }

  watchEnded({ group, kind }: GroupResourceKind, labels: RequestLabels): void {
    this.watchers.dec({ group, version: labels.version, kind });
    this.longRunning.dec({ ...labels, component });
  }

  watchEndedEarly({ group, kind }: GroupResourceKind, reason: string): void {
    this.endedWatches.inc({ group, kind, reason });
  }

  /** Drops the counts of a resource that is no longer served, a little later, when its last requests have finished. */
  resourceGone({ group, resource, kind }: GroupResourceKind & { readonly resource: string }): void {
    this.gone.set(`${group}/${resource}`, { group, resource, kind });
    this.sweep ??= setTimeout(() => {
      this.sweep = undefined;
      const gone = [...this.gone.values()];
      this.gone.clear();
      void this.dropSeries(gone);
    }, goneSeriesMs).unref();
  }

  private async dropSeries(gone: readonly (GroupResourceKind & { readonly resource: string })[]): Promise<void> {
    const resources = new Set(gone.map(({ group, resource }) => `${group}/${resource}`));
    const kinds = new Set(gone.map(({ group, kind }) => `${group}/${kind}`));
    this.requests.forget(({ group, resource }) => resources.has(`${group}/${resource}`));
    this.watchEvents.forget(({ group, resource }) => resources.has(`${group}/${resource}`));
    const byResource = [this.longRunning, this.deprecated];
    for (const metric of [...byResource, this.watchers, this.endedWatches]) {
      const { values } = await metric.get();
      for (const { labels } of values) {
        const { group, resource, kind } = labels as Partial<Record<string, string>>;
        if (!resources.has(`${group}/${resource}`) && !kinds.has(`${group}/${kind}`)) continue;
        const { le: _bucket, ...series } = labels as Record<string, string>;
        metric.remove(series as never);
      }
    }
  }
}

/** Shows the requests in progress, which the record counts by their kind. */
function gaugeInFlight(inFlight: Readonly<Record<RequestKind, number>>, registers: Registry[]): void {
  new Gauge({
    name: 'apiserver_current_inflight_requests',
    help: 'Requests in progress, without long-running ones.',
    labelNames: ['request_kind'],
    registers,
    collect() {
      for (const [request_kind, count] of Object.entries(inFlight)) this.set({ request_kind }, count);
    },
  });
}
