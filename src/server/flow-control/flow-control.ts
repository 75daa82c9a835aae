import type { RequestInfo, UserInfo } from '../../base/machinery/request-context.js';
import { timeoutError, tooManyRequestsError } from '../../base/machinery/status-error.js';
import type { Metrics } from '../../base/observability/metrics.js';
import { Contention } from './contention.js';
import { defaultLevels } from './default-objects.js';
import { FlowHasher } from './flow-hasher.js';
import { FlowSeat } from './flow-seat.js';
import { FlowSeries } from './flow-series.js';
import type { FlowSubject } from './flow-subject.js';
import { LoopPressure, leastRunning } from './loop-pressure.js';
import { type LevelSettings, PriorityLevel } from './priority-level.js';
import type { RejectReason } from './queue.js';
import type { QueueSetObserver } from './queue-set-observer.js';
import type { QueueTimers } from './queue-timers.js';
import { compareSchemas, SchemaInEffect, type SchemaSettings } from './schema-in-effect.js';
import type { FlowInfo } from './scraped-metrics.js';
import type { Seat } from './seat.js';
import { allocateSeats, seatLimits, smoothDemand } from './seat-limits.js';
import { SeveralFlows } from './several-flows.js';
import { spacedTenant } from './spaced-tenant.js';
import { TenantSpacing } from './tenant-spacing.js';
import { TimedBuckets } from './timed-buckets.js';
import { estimateWork, eventsWork, type FindUsage } from './work-estimator.js';

/** Injection token of the {@link FlowControl}; undefined when the feature is off. */
export const FLOW_CONTROL = Symbol('FlowControl');

export type RequestKind = 'readOnly' | 'mutating';

/** The request limits of a server without flow control; with it, their sum is the number of seats. */
export interface InFlightSeats {
  readonly readOnly: number;
  readonly mutating: number;
}

/** A request that needs seats. */
export interface FlowRequest {
  readonly user: UserInfo;
  readonly info: RequestInfo;
  readonly query: URLSearchParams;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly kind: RequestKind;
  /** The announced length of the body. */
  readonly bodyBytes: number;
  /** The time limit of the whole request, in milliseconds. */
  readonly timeLimitMs: number;
  /** The seat of the limit on anonymous requests, which is released together with the seats. */
  readonly anonymousSeat?: Seat | undefined;
}

const ratioBounds = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1];
const tickMs = 1000;
/** Number of ticks between two adjustments of the limits. */
const adjustmentTicks = 10;
/** A request may wait for this fraction of its time limit, but no longer than {@link longestWaitMs}. */
const waitingPart = 1 / 4;
const longestWaitMs = 15_000;

/**
 * Classifies requests into flows and levels, and gives them seats: API priority and fairness (specification 8). Holds
 * the configuration in effect in this process; changes are passed to {@link apply}.
 */
export class FlowControl implements FlowInfo {
  private readonly byName = new Map<string, PriorityLevel>();
  private readonly seriesByName = new Map<string, FlowSeries>();
  private schemas: readonly SchemaInEffect[] = [];
  private readonly waiting: Record<RequestKind, number> = { readOnly: 0, mutating: 0 };
  private readonly running: Record<RequestKind, number> = { readOnly: 0, mutating: 0 };
  private readonly overTime: Record<'waiting' | 'executing', Record<RequestKind, TimedBuckets>>;
  private readonly pressure: LoopPressure;
  private readonly tenants: TenantSpacing;
  private readonly severalFlows = new SeveralFlows();
  private cancelTick: (() => void) | undefined;
  private ticks = 0;
  private lastFraction = 0;

  /** @param seats those of this process; each kind at least 0, both together at least 1 */
  constructor(
    private readonly seats: InFlightSeats,
    private readonly timers: QueueTimers,
    private readonly findUsage: FindUsage,
    private readonly metrics: Pick<Metrics, 'requestRejected' | 'setInFlight'>,
    private readonly hasher = new FlowHasher(),
    private readonly contention = new Contention(timers),
  ) {
    const most = seats.readOnly + seats.mutating;
    this.pressure = new LoopPressure(most, timers.elapsed, timers.after, () => this.setPace());
    this.tenants = new TenantSpacing(timers, contention, () => {
      for (const level of this.byName.values()) level.requests.wake();
    });
    const buckets = () => new TimedBuckets(ratioBounds, timers.elapsed());
    this.overTime = {
      waiting: { readOnly: buckets(), mutating: buckets() },
      executing: { readOnly: buckets(), mutating: buckets() },
    };
  }

  /** Begins to adjust limits to demand, until {@link stop}. */
  start(): void {
    this.cancelTick ??= this.timers.after(tickMs, () => {
      this.cancelTick = undefined;
      this.tick();
      this.start();
    });
  }

  stop(): void {
    this.cancelTick?.();
    this.cancelTick = undefined;
    this.pressure.stop();
    this.contention.stop();
    this.tenants.stop();
  }

  /**
   * Puts a configuration into effect: all existing levels and schemas. Current requests keep their seats and their
   * places in queues. Schemas whose level is missing are ignored. The mandatory objects always exist.
   */
  apply(levels: readonly LevelSettings[], schemas: readonly SchemaSettings[]): void {
    const wanted = new Map(levels.map((level) => [level.name, level]));
    for (const { name, spec, isMandatory } of defaultLevels()) {
      if (isMandatory && !wanted.has(name)) wanted.set(name, { name, uid: '', spec });
    }
    for (const settings of wanted.values()) {
      const level = this.byName.get(settings.name);
      if (level === undefined) this.byName.set(settings.name, this.makeLevel(settings));
      else level.configure(settings);
    }
    for (const level of this.byName.values()) if (!wanted.has(level.name)) level.isQuiescing = true;
    this.schemas = schemas
      .flatMap((settings) => {
        const { name } = settings.spec.priorityLevelConfiguration;
        const level = wanted.has(name) ? this.byName.get(name) : undefined;
        return level === undefined
          ? []
          : [new SchemaInEffect(settings, level, this.seriesOf(settings.name, name), this.hasher)];
      })
      .sort(compareSchemas);
    this.forgetGone();
    this.shareSeats();
  }

  /** The schema of a request: the first that matches. */
  schemaOf(user: UserInfo, info: RequestInfo): SchemaInEffect {
    for (const schema of this.schemas) if (schema.matches(user, info)) return schema;
    // Every user is in one of the groups of the last schema, except for users from an unusual authenticator.
    const last = this.schemas.at(-1);
    if (last === undefined) throw new Error('flow control has no configuration yet');
    return last;
  }

  /**
   * Requests the seats of a request. The result has the seats or waits for them: see {@link FlowSeat.granted}. Throws a
   * 429 for a request that can't get seats and may not wait.
   */
  enter(schema: SchemaInEffect, request: FlowRequest): FlowSeat {
    const { user, info, kind } = request;
    const { level } = schema;
    const work = estimateWork(info, request.query, this.findUsage, level.bounds);
    const distinguisher = schema.distinguisherOf(user, info);
    const subject: FlowSubject = {
      schema,
      distinguisher,
      tenant: level.share.isExempt ? undefined : spacedTenant(user.name),
      user,
      info,
      receivedAt: request.receivedAt,
      isWatch: info.verb === 'watch',
      eventsMs: eventsWork(work, request.bodyBytes),
      kind,
    };
    schema.series.seats.observe(Math.max(work.initialSeats, work.finalSeats));
    if (work.watchers !== undefined) schema.series.watchers.observe(work.watchers);
    const flow = schema.hashOf(distinguisher);
    if (!level.share.isExempt) this.severalFlows.saw(flow, this.timers.elapsed());
    const entered = level.requests.enter(flow, work, subject);
    if (typeof entered === 'string') {
      request.anonymousSeat?.leave();
      throw this.refusal(level, schema.series, kind, entered);
    }
    const waitMs = Math.min(request.timeLimitMs * waitingPart, longestWaitMs);
    return new FlowSeat(entered, level, waitMs, this.timers, request.anonymousSeat, (reason) =>
      this.refusal(level, schema.series, kind, reason),
    );
  }

  *series(): Iterable<FlowSeries> {
    yield* this.seriesByName.values();
  }

  *levels(): Iterable<PriorityLevel> {
    yield* this.byName.values();
  }

  *kinds(): ReturnType<FlowInfo['kinds']> {
    const now = this.timers.elapsed();
    for (const [phase, kinds] of Object.entries(this.overTime)) {
      for (const [kind, counts] of Object.entries(kinds)) {
        counts.pass(now);
        yield { kind, phase, counts };
      }
    }
  }

  /** Whether requests of several users came lately, besides exempt ones. */
  get hasSeveralFlows(): boolean {
    return this.severalFlows.at(this.timers.elapsed());
  }

  /** How far apart the requests of a demanding tenant begin now, see {@link Contention}. */
  get spacing(): number {
    return this.contention.spacing;
  }

  get inQueue(): Readonly<Record<RequestKind, number>> {
    return this.waiting;
  }

  get fairFraction(): number {
    return this.lastFraction;
  }

  /** Called every second. */
  private tick(): void {
    for (const level of this.byName.values()) level.adjustRetryAfter();
    this.forgetGone();
    if (++this.ticks % adjustmentTicks === 0) this.adjust();
  }

  /** Lets busy levels borrow seats from the others, according to demand since the last adjustment. */
  private adjust(): void {
    const levels = [...this.byName.values()];
    for (const level of levels) {
      level.lastDemand = level.demand.take();
      level.smoothedDemand = smoothDemand(level.smoothedDemand, level.lastDemand);
    }
    const { targets, current, fairFraction } = allocateSeats(
      levels.map(({ limits, share, lastDemand, smoothedDemand }) => ({
        ...limits,
        isExempt: share.isExempt,
        highest: lastDemand.highest,
        smoothed: smoothedDemand,
      })),
    );
    this.lastFraction = fairFraction;
    for (const [i, level] of levels.entries()) {
      level.targetSeats = targets[i] as number;
      level.setCurrent(current[i] as number);
    }
  }

  /**
   * Divides the number of requests that may run concurrently among the levels, in proportion to the nominal limits of
   * busy ones.
   */
  private setPace(): void {
    const { running } = this.pressure;
    const limited = [...this.byName.values()].filter(({ share }) => !share.isExempt);
    const isBusy = ({ requests }: PriorityLevel) => requests.running + requests.waiting > 0;
    const inUse = limited.reduce((sum, level) => sum + (isBusy(level) ? level.limits.nominal : 0), 0);
    for (const level of limited) {
      const { nominal } = level.limits;
      const part = nominal / (isBusy(level) ? inUse : inUse + nominal);
      const isFree = running >= this.seats.readOnly + this.seats.mutating;
      level.requests.setPace(isFree ? Number.POSITIVE_INFINITY : Math.max(1, Math.round(running * part)));
    }
  }

  private shareSeats(): void {
    const levels = [...this.byName.values()];
    const limits = seatLimits(
      this.seats.readOnly + this.seats.mutating,
      levels.map(({ share }) => share),
    );
    for (const [i, level] of levels.entries()) level.setLimits(limits[i] as (typeof limits)[number]);
  }

  /** Removes levels whose last request is done, and the counts of schemas that are gone. */
  private forgetGone(): void {
    let isGone = false;
    for (const level of this.byName.values()) if (level.isDone) isGone = this.byName.delete(level.name) || isGone;
    const inEffect = new Set(this.schemas.map(({ series }) => series));
    for (const [key, series] of this.seriesByName) {
      if (series.isIdle && !inEffect.has(series)) this.seriesByName.delete(key);
    }
    if (isGone) this.shareSeats();
  }

  private seriesOf(schema: string, level: string): FlowSeries {
    const key = `${schema}/${level}`;
    let series = this.seriesByName.get(key);
    if (series === undefined) {
      series = new FlowSeries(schema, level);
      this.seriesByName.set(key, series);
    }
    return series;
  }

  private makeLevel(settings: LevelSettings): PriorityLevel {
    return new PriorityLevel(settings, this.timers, this.observer, ({ tenant }) => this.tenants.mayStart(tenant));
  }

  private readonly observer: QueueSetObserver<FlowSubject> = {
    queued: ({ subject: { schema, kind, tenant, eventsMs }, work }, length) => {
      const { series } = schema;
      this.tenants.entered(tenant, eventsMs);
      series.inQueue++;
      series.inQueueSeats += work.initialSeats;
      series.queueLengths.observe(length);
      this.countWaiting(kind, 1);
    },
    unqueued: ({ subject: { schema, kind, tenant, eventsMs }, work }) => {
      this.tenants.left(tenant, eventsMs);
      schema.series.inQueue--;
      schema.series.inQueueSeats -= work.initialSeats;
      this.countWaiting(kind, -1);
    },
    dispatched: ({ subject, work, arrivedAt, startedAt = arrivedAt, hasRun }) => {
      const { schema, kind, tenant, eventsMs } = subject;
      const { series, level } = schema;
      this.tenants.entered(tenant, eventsMs);
      this.tenants.started(tenant, eventsMs);
      series.running++;
      series.runningSeats += work.initialSeats;
      this.countRunning(kind, 1);
      // The request lost its seats and got new ones, so it was already counted.
      if (hasRun) return;
      series.dispatched++;
      level.counts.dispatched++;
      series.waited.true.observe((startedAt - arrivedAt) / 1000);
    },
    left: (ticket) => {
      const { subject, work, startedAt = 0 } = ticket;
      const { schema, kind, isWatch, tenant, eventsMs } = subject;
      const { series } = schema;
      this.tenants.left(tenant, eventsMs);
      this.tenants.stopped(tenant, ticket.workedMs(this.timers.elapsed()));
      series.running--;
      series.runningSeats -= work.initialSeats;
      series.executed[isWatch ? 'watch' : 'regular'].observe((this.timers.elapsed() - startedAt) / 1000);
      this.countRunning(kind, -1);
    },
    blocked: ({ subject: { schema } }) => {
      schema.series.blocked++;
    },
  };

  private countWaiting(kind: RequestKind, change: 1 | -1): void {
    this.waiting[kind] += change;
    this.overTime.waiting[kind].set(this.waiting[kind] / Math.max(1, this.seats[kind]), this.timers.elapsed());
  }

  private countRunning(kind: RequestKind, change: 1 | -1): void {
    this.running[kind] += change;
    if (change > 0 && this.isBusy()) this.pressure.watch(this.isBusy);
    if (change > 0 && this.hasSeveralFlows) this.contention.watch(() => this.hasSeveralFlows);
    this.metrics.setInFlight(kind, this.running[kind]);
    this.overTime.executing[kind].set(this.running[kind] / Math.max(1, this.seats[kind]), this.timers.elapsed());
  }

  /** Whether current requests may delay requests of other flows. */
  private readonly isBusy = (): boolean => {
    const { readOnly, mutating } = this.running;
    if (!this.severalFlows.at(this.timers.elapsed())) return false;
    return readOnly + mutating > leastRunning || this.waiting.readOnly + this.waiting.mutating > 0;
  };

  private refusal(level: PriorityLevel, series: FlowSeries, kind: RequestKind, reason: RejectReason): Error {
    series.rejected[reason]++;
    if (reason === 'cancelled') {
      level.counts.cancelled++;
      return timeoutError('the client has left', 0);
    }
    if (reason === 'time-out') level.counts.timedOut++;
    else level.counts.rejected++;
    this.metrics.requestRejected(kind);
    return tooManyRequestsError(level.refuse());
  }
}
