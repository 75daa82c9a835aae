import { createHash } from 'node:crypto';
import { formatTime } from '../../base/machinery/clock.js';
import { RateLimiter } from '../../base/machinery/rate-limiter.js';
import type { Timers } from '../../base/machinery/timers.js';
import type { ApiUser } from '../connection/api-connection.js';
import { ApiError } from '../connection/api-error.js';

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

interface Waiting {
  readonly key: string;
  readonly target: EventTarget;
  readonly content: { readonly type: EventType; readonly reason: string; readonly message: string };
  /** When it happened for the first and for the last time, in milliseconds since the epoch. */
  readonly firstAt: number;
  lastAt: number;
  count: number;
}

/** A repeated event increases the count of the first one, up to this number of events. */
const mostRemembered = 4096;
/** Further events are dropped while as many wait. */
const mostWaiting = 1_000;
const mostAttempts = 12;
/** The rest of a longer message is left out. */
const mostCharacters = 8192;
const retryMs = 10_000;

/** Accepts the events of an agent. */
export interface EventSink {
  record(target: EventTarget, type: EventType, reason: string, message: string): void;
}

/**
 * Writes events in the background, one after the other and no faster than the limit; up to a thousand wait, also while the API is away.
 * A repeated event about the same object is counted in the first one.
 */
export class AgentEvents implements EventSink {
  private readonly rate: RateLimiter;
  private readonly written = new Map<string, Written>();
  private readonly waiting = new Map<string, Waiting>();
  private made = 0;
  private isWriting = false;

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

  record(target: EventTarget, type: EventType, reason: string, text: string): void {
    const message = text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text;
    // Thousands of keys are remembered, and messages have names of any length in them.
    const key = createHash('sha256')
      .update(JSON.stringify([target.uid, target.fieldPath, type, reason, message]))
      .digest('base64');
    const now = this.dependencies.timers.now();
    const same = this.waiting.get(key);
    if (same !== undefined) {
      same.count += 1;
      same.lastAt = now;
      return;
    }
    if (this.waiting.size >= mostWaiting) return;
    this.waiting.set(key, { key, target, content: { type, reason, message }, firstAt: now, lastAt: now, count: 1 });
    if (this.isWriting) return;
    this.isWriting = true;
    void this.work().finally(() => {
      this.isWriting = false;
    });
  }

  private async work(): Promise<void> {
    const { signal } = this.dependencies;
    for (;;) {
      const [next] = this.waiting.values();
      if (next === undefined) return;
      await this.rate.take(signal);
      if (signal.aborted) return;
      this.waiting.delete(next.key);
      await this.deliver(next);
    }
  }

  /** No work depends on events: one that the API refuses, or does not take for two minutes, is given up. */
  private async deliver(event: Waiting): Promise<void> {
    const { timers, signal } = this.dependencies;
    for (let attempt = 1; attempt <= mostAttempts && !signal.aborted; attempt++) {
      try {
        await this.write(event);
        return;
      } catch (error) {
        const { status = 0 } = error instanceof ApiError ? error : {};
        // The first one has expired: it is made anew.
        if (status === 404 && this.written.delete(event.key)) continue;
        if (status >= 400 && status < 500 && status !== 429) return;
        await timers.wait(retryMs, signal);
      }
    }
  }

  private async write({ key, target, content, firstAt, lastAt, count }: Waiting): Promise<void> {
    const { api, component, node, signal } = this.dependencies;
    const { resourceVersion, fieldPath, ...object } = target;
    const lastTimestamp = formatTime(lastAt);
    const known = this.written.get(key);
    if (known !== undefined) {
      const body = { count: known.count + count, lastTimestamp };
      const contentType = 'application/strategic-merge-patch+json';
      await api.send('PATCH', known.path, { body, contentType, rank: 'minor', signal });
      known.count += count;
      return;
    }
    this.made += 1;
    const namespace = object.namespace === '' ? 'default' : object.namespace;
    const name = `${object.name}.${firstAt.toString(16)}${this.made.toString(16).padStart(4, '0')}`;
    const path = `/api/v1/namespaces/${namespace}/events`;
    const { namespace: _own, ...unscoped } = object;
    const involvedObject = {
      apiVersion: 'v1',
      ...(object.namespace === '' ? unscoped : object),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(fieldPath === undefined ? {} : { fieldPath }),
    };
    const body = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace },
      involvedObject,
      ...content,
      source: { component, host: node },
      reportingComponent: component,
      reportingInstance: node,
      firstTimestamp: formatTime(firstAt),
      lastTimestamp,
      count,
    };
    await api.send('POST', path, { body, rank: 'minor', signal });
    if (this.written.size >= mostRemembered) this.written.clear();
    this.written.set(key, { path: `${path}/${name}`, count });
  }
}
