import { randomUUID } from 'node:crypto';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatTime } from '../../../base/machinery/clock.js';
import { FairGate } from '../../../base/machinery/fair-gate.js';
import { isDns1123Subdomain } from '../../../base/machinery/names.js';
import type { Timers } from '../../../base/machinery/timers.js';
import { TokenBucket } from '../../../base/machinery/token-bucket.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { Event } from '../../../objects/apis/core/v1/event.types.js';
import { FaultBudget } from '../fault-budget.js';
import type { DeepPartial, LoopClient } from './loop-client.js';
import { loopUser, ReconcileContext } from './reconcile-context.js';

type StoredEvent = Event & ApiObject;

export interface LoopEventsDependencies {
  readonly client: LoopClient;
  readonly names: VendorNames;
  readonly timers: Timers;
  readonly logger: Logger;
}

/** One loop may write this many events about one object at once, and then one more each refill time. */
const burst = 25;
const refillMs = 300_000;
/** Events with the same message within this time are one event with a count. */
const sameMs = 600_000;
const mostRemembered = 4096;

interface Known {
  event: StoredEvent;
  readonly at: number;
}

/**
 * The most events written at one time, and of one namespace; events about one object are written one after the other.
 */
const slots = 16;
/** The most waiting events of all namespaces; each namespace has an equal share, between these two limits. */
const mostWaiting = 4096;
const mostOfNamespace = 1024;
const leastOfNamespace = 64;

/** The waiting events of one namespace. */
interface Waiting {
  count: number;
  readonly last: Promise<void>[];
}

/**
 * Writes events about objects for one loop, in the background, for each object in the order of the calls. A repeated
 * event raises the count of the first. A failure to write one is only logged: no work depends on events. Namespaces
 * take turns, and each has an equal share of the events that may wait: events that exceed the share are dropped.
 */
export class LoopEvents {
  private readonly known = new Map<string, Known>();
  private readonly spent = new Map<string, TokenBucket>();
  private readonly waiting = new Map<string, Waiting>();
  private readonly writes = new FairGate(slots);
  private readonly budget: FaultBudget;
  private term: AbortSignal | undefined;
  private made = 0;

  /**
   * @param account the service account of the loop
   * @param component the reporting component, as named in events
   * @param user the author of the events; default: the service account
   * @param written called when an event that waited is written, or could not be
   */
  constructor(
    private readonly dependencies: LoopEventsDependencies,
    private readonly account: string,
    private readonly component: string,
    private readonly user = loopUser(account, dependencies.names),
    private readonly written: (namespace: string) => void = () => undefined,
  ) {
    this.budget = new FaultBudget(dependencies.timers);
  }

  /** After the abort nothing more is recorded: failures after it are caused by the end of the term. */
  endWith(term: AbortSignal): void {
    this.term = term;
  }

  /** Records a normal event. Returns at once. */
  normal(about: ApiObject, reason: string, message: string): void {
    this.record('Normal', about, reason, message);
  }

  /** Records a warning that somebody should look at. Returns at once. */
  warning(about: ApiObject, reason: string, message: string): void {
    this.record('Warning', about, reason, message);
  }

  /** How much of its share of the waiting events a namespace has used: from 1 on new ones are dropped. */
  usedShare(namespace: string): number {
    const share = Math.floor(mostWaiting / Math.max(1, this.waiting.size));
    const most = Math.max(leastOfNamespace, Math.min(mostOfNamespace, share));
    return (this.waiting.get(namespace)?.count ?? 0) / most;
  }

  /** Resolves when all events of earlier calls are written. */
  async flushed(): Promise<void> {
    await Promise.all([...this.waiting.values()].flatMap(({ last }) => last));
  }

  private record(type: string, about: ApiObject, reason: string, message: string): void {
    const { namespace = '', name = '', uid = '' } = about.metadata;
    if (this.term?.aborted === true) return;
    if (this.usedShare(namespace) >= 1) {
      this.dropped(namespace);
      return;
    }
    if (!this.maySpend(uid)) return;
    let waiting = this.waiting.get(namespace);
    if (waiting === undefined) {
      waiting = { count: 0, last: new Array(slots).fill(Promise.resolve()) };
      this.waiting.set(namespace, waiting);
    }
    const own = waiting;
    own.count += 1;
    const slot = slotOf(uid);
    const before = own.last[slot];
    own.last[slot] = (async () => {
      await before;
      try {
        await this.writes.run(namespace, 1, () => this.write(type, about, reason, message));
      } catch (error) {
        this.dependencies.logger.debug('an event could not be written', {
          reason,
          object: `${namespace}/${name}`,
          error,
        });
      } finally {
        own.count -= 1;
        if (own.count === 0) this.waiting.delete(namespace);
        this.written(namespace);
      }
    })();
  }

  private dropped(namespace: string): void {
    const suppressed = this.budget.take();
    if (suppressed === undefined) return;
    const others = suppressed === 0 ? {} : { suppressed };
    this.dependencies.logger.warn('an event was dropped: too many of its namespace wait', {
      loop: this.account,
      namespace,
      ...others,
    });
  }

  private maySpend(uid: string): boolean {
    const bucket = this.spent.get(uid) ?? new TokenBucket(1000 / refillMs, burst);
    if (!bucket.tryTake(this.dependencies.timers.elapsed())) return false;
    remember(this.spent, uid, bucket);
    return true;
  }

  private async write(type: string, about: ApiObject, reason: string, message: string): Promise<void> {
    const { client, timers } = this.dependencies;
    const now = timers.now();
    const work = new ReconcileContext(this.user, this.account, now, new AbortController().signal);
    const events = client.of<StoredEvent>({ group: '', resource: 'events' });
    const key = JSON.stringify([about.metadata.uid, type, reason, message]);
    const known = this.known.get(key);
    if (known !== undefined && timers.elapsed() - known.at < sameMs) {
      const updated = await events.update(work, known.event, (live) => {
        live.count = (live.count ?? 1) + 1;
        live.lastTimestamp = formatTime(now);
        return live;
      });
      if (updated !== undefined) {
        known.event = updated;
        return;
      }
    }
    const event = await events.create(work, this.body(type, about, reason, message, now));
    remember(this.known, key, { event, at: timers.elapsed() });
  }

  private body(
    type: string,
    { kind, apiVersion, metadata }: ApiObject,
    reason: string,
    message: string,
    now: number,
  ): DeepPartial<StoredEvent> {
    const { name = '', namespace = '', uid, resourceVersion } = metadata;
    const time = formatTime(now);
    this.made += 1;
    const suffix = `${now.toString(16)}${this.made.toString(16).padStart(4, '0')}`;
    const long = `${name}.${suffix}`;
    return {
      metadata: {
        name: isDns1123Subdomain(long).length === 0 ? long : randomUUID(),
        namespace: namespace || 'default',
      },
      involvedObject: { kind, apiVersion, name, namespace, uid, resourceVersion },
      reason,
      message,
      type,
      source: { component: this.component },
      reportingComponent: this.component,
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
    } as DeepPartial<StoredEvent>;
  }
}

function slotOf(uid: string): number {
  let sum = 0;
  for (let i = 0; i < uid.length; i++) sum = (sum * 31 + uid.charCodeAt(i)) % 65_521;
  return sum % slots;
}

/** Adds an entry and forgets the oldest ones above the limit. */
function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= mostRemembered) return;
  const oldest = map.keys().next().value;
  if (oldest !== undefined) map.delete(oldest);
}
