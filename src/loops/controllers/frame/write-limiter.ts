import { getHeapStatistics } from 'node:v8';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { FairGate } from '../../../base/machinery/fair-gate.js';
import type { Timers } from '../../../base/machinery/timers.js';
import type { CreationBudget, CreationLimit } from './creation-budget.js';
import type { ReconcileContext } from './reconcile-context.js';

/** An object that a loop is about to write. */
export interface PlannedWrite {
  readonly namespace: string;
  /** The approximate number of bytes of its JSON. */
  readonly size: number;
}

export interface PlannedCreation extends PlannedWrite {
  /** The object on whose behalf it is made: it gets an event when the creation waits for long. */
  readonly owner: ApiObject | undefined;
}

/** Smaller writes need not be counted: only few are in progress at one time. */
const small = 64 * 1024;
/** Changes of smaller objects wait for no budget: most changes are of this kind, and they are cheap. */
const smallChange = 8 * 1024;
/**
 * The share of the heap for the JSON of large objects being written at one time: each JSON exists in several copies.
 */
const partUnderWay = 1 / 64;
/** An owner that waits for longer gets an event, and no other event within the same time. */
const longSeconds = 2;
const quietMs = 300_000;
const mostRemembered = 4096;

export interface WriteLimiterDependencies {
  readonly timers: Timers;
  readonly budget: CreationBudget;
  /** Writes an event about an object that somebody should look at. */
  warn(about: ApiObject, reason: string, message: string): void;
}

/**
 * The limits for the writes of the loops of a process: the budget of their namespace, one for creations and another one
 * for changes of large objects, and a memory budget for the copies of large objects, in which namespaces take turns.
 * Waiting work rests meanwhile, so the loops continue with other work.
 */
export class WriteLimiter {
  private readonly underWay: FairGate;
  /** Owners that got an event, and when. */
  private readonly reportedAt = new Map<string, number>();

  /** @param dependencies without them creations wait for no budget */
  constructor(
    private readonly dependencies?: WriteLimiterDependencies,
    mostUnderWay = getHeapStatistics().heap_size_limit * partUnderWay,
  ) {
    this.underWay = new FairGate(mostUnderWay);
  }

  /** Resolves when the object may be created, or after the end of the term. */
  async untilAffordable(
    { signal, rest }: ReconcileContext,
    { namespace, size, owner }: PlannedCreation,
  ): Promise<void> {
    if (this.dependencies === undefined || namespace === '') return;
    const { budget } = this.dependencies;
    const began = (seconds: number, limit: CreationLimit) => this.recordDelay(owner, namespace, seconds, limit);
    await rest(() => budget.spend(namespace, size, signal, began));
  }

  /**
   * Resolves when an object may be changed, or after the end of the term. A loop may have to change many large objects
   * again and again for one small change of a tenant, such as the endpoints of all services of a pod.
   *
   * @param object what is changed: it gets an event when the change waits for long
   */
  async untilChangeable({ signal, rest }: ReconcileContext, object: ApiObject, size: number): Promise<void> {
    const { namespace = '' } = object.metadata;
    if (this.dependencies === undefined || namespace === '' || size < smallChange) return;
    const { budget } = this.dependencies;
    const began = (seconds: number, limit: CreationLimit) => this.recordDelay(object, namespace, seconds, limit, true);
    await rest(() => budget.spendOnChange(namespace, size, signal, began));
  }

  /** Performs a write as soon as the memory budget allows for its copies of the object. */
  async inMemory<T>(
    { rest }: ReconcileContext,
    { namespace, size }: PlannedWrite,
    write: () => Promise<T>,
  ): Promise<T> {
    if (size < small) return write();
    const leave = await rest(() => this.underWay.enter(namespace, size));
    try {
      return await write();
    } finally {
      leave();
    }
  }

  private recordDelay(
    owner: ApiObject | undefined,
    namespace: string,
    seconds: number,
    limit: CreationLimit,
    isChange = false,
  ): void {
    const { dependencies } = this;
    const uid = owner?.metadata.uid ?? '';
    if (dependencies === undefined || owner === undefined || uid === '' || seconds < longSeconds) return;
    const now = dependencies.timers.elapsed();
    const before = this.reportedAt.get(uid);
    if (before !== undefined && now - before < quietMs) return;
    this.reportedAt.delete(uid);
    this.reportedAt.set(uid, now);
    const [oldest] = this.reportedAt.keys();
    if (this.reportedAt.size > mostRemembered && oldest !== undefined) this.reportedAt.delete(oldest);
    const { objectsPerSecond, bytesPerSecond } = dependencies.budget.limits;
    const most = limit === 'bytes' ? `${bytesPerSecond} bytes` : `${objectsPerSecond} objects`;
    const [subject, verb, reason] = isChange
      ? ['Changes of large objects wait', 'change', 'ChangeDelayed']
      : ['Objects wait to be created', 'create', 'CreationDelayed'];
    const message =
      `${subject}, the next one for ${Math.ceil(seconds)} s: ` +
      `control loops ${verb} at most ${most} a second in the namespace ${namespace}`;
    dependencies.warn(owner, reason, message);
  }
}
