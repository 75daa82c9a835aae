import { formatTime } from '../../base/machinery/clock.js';
import { RateLimiter } from '../../base/machinery/rate-limiter.js';
import type { Timers } from '../../base/machinery/timers.js';
import type { ApiUser } from '../connection/api-connection.js';

/** The object of an event. */
export interface EventTarget {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion?: string | undefined;
  /** A part of the object, such as `spec.containers{name}`. */
  readonly fieldPath?: string | undefined;
}

export type EventType = 'Normal' | 'Warning';

interface Written {
  readonly path: string;
  count: number;
}

/** A repeated event increases the count of the first one, up to this count. */
const mostRemembered = 4096;

/** Accepts the events of an agent. */
export interface EventSink {
  record(target: EventTarget, type: EventType, reason: string, message: string): void;
}

/**
 * Writes events in the background. Events above the limit are dropped. A repeated event about the same object is
 * counted in the first one.
 */
export class AgentEvents implements EventSink {
  private readonly rate: RateLimiter;
  private readonly written = new Map<string, Written>();
  private made = 0;

  constructor(
    private readonly dependencies: {
      readonly api: ApiUser;
      readonly component: string;
      readonly node: string;
      readonly perSecond: number;
      readonly burst: number;
      readonly timers: Timers;
      readonly signal: AbortSignal;
    },
  ) {
    this.rate = new RateLimiter(dependencies.perSecond, dependencies.burst, dependencies.timers);
  }

  record(target: EventTarget, type: EventType, reason: string, message: string): void {
    if (!this.rate.tryTake()) return;
    const key = JSON.stringify([target.uid, target.fieldPath, type, reason, message]);
    // No work depends on events.
    this.write(key, target, { type, reason, message }).catch(() => undefined);
  }

  private async write(
    key: string,
    { resourceVersion, fieldPath, ...object }: EventTarget,
    content: { readonly type: EventType; readonly reason: string; readonly message: string },
  ): Promise<void> {
    const { api, component, node, timers, signal } = this.dependencies;
    const now = timers.now();
    const time = formatTime(now);
    const known = this.written.get(key);
    if (known !== undefined) {
      known.count += 1;
      const body = { count: known.count, lastTimestamp: time };
      const contentType = 'application/strategic-merge-patch+json';
      await api.send('PATCH', known.path, { body, contentType, rank: 'minor', signal });
      return;
    }
    this.made += 1;
    const namespace = object.namespace === '' ? 'default' : object.namespace;
    const name = `${object.name}.${now.toString(16)}${this.made.toString(16).padStart(4, '0')}`;
    const path = `/api/v1/namespaces/${namespace}/events`;
    const { namespace: _own, ...unscoped } = object;
    const involvedObject = {
      apiVersion: 'v1',
      ...(object.namespace === '' ? unscoped : object),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(fieldPath === undefined ? {} : { fieldPath }),
    };
    if (this.written.size >= mostRemembered) this.written.clear();
    this.written.set(key, { path: `${path}/${name}`, count: 1 });
    const body = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace },
      involvedObject,
      ...content,
      source: { component, host: node },
      reportingComponent: component,
      reportingInstance: node,
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
    };
    await api.send('POST', path, { body, rank: 'minor', signal });
  }
}
