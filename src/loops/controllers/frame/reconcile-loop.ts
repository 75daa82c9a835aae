import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { GroupResource } from '../../../base/machinery/group-version.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import type { Timers } from '../../../base/machinery/timers.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { QueueMetrics } from '../../../base/observability/queue-metrics.js';
import type { Informer } from '../../../objects/registry/informers/informer.js';
import type { SharedInformers } from '../../../objects/registry/informers/shared-informers.js';
import type { ResourceRegistry } from '../../../objects/registry/resource-registry.js';
import type { Storage } from '../../../storage/storage.interface.js';
import type { ControlLoop } from '../control-loop.js';
import type { LoopMetrics } from '../metrics/loop-metrics.js';
import { namespaceOfKey } from '../namespace-of-key.js';
import { loopPace } from '../party-pace.js';
import { type WorkOutcome, WorkQueue } from '../work-queue.js';
import type { LoopClient, ResourceClient } from './loop-client.js';
import { LoopEvents } from './loop-events.js';
import { loopUser, ReconcileContext } from './reconcile-context.js';

/** The dependencies of every loop. */
export interface ReconcileDependencies {
  readonly storage: Storage;
  readonly registry: ResourceRegistry;
  readonly names: VendorNames;
  readonly logger: Logger;
  readonly timers: Timers;
  /** Returns a random number from 0 to 1. */
  readonly random: () => number;
  readonly informers: SharedInformers;
  readonly client: LoopClient;
  readonly queues?: Pick<QueueMetrics, 'of'> | undefined;
  readonly loopMetrics?: LoopMetrics | undefined;
}

/** The first pause before a key is retried, in milliseconds, and the longest: the pause doubles in between. */
export interface Pauses {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** An informer that a loop needs, and the keys that its objects map to. */
export interface Source {
  readonly informer: Pick<Informer, 'use' | 'reached'>;
  /**
   * Reports the keys of all objects (of many objects in turns with other work) and of every change, until the abort.
   */
  feed(add: (key: string) => void, signal: AbortSignal): void | Promise<void>;
}

/**
 * A source of a loop. `keysOf` returns the keys that a change concerns: `object` is undefined for one that is gone,
 * `old` for a new one. Without it the loop only reads the informer.
 */
export function source<T extends ApiObject>(
  informer: Informer<T>,
  keysOf?: (object: T | undefined, old: T | undefined) => Iterable<string>,
): Source {
  return {
    informer,
    feed: async (add, signal) => {
      if (keysOf === undefined) return;
      const changed = (object: T | undefined, old: T | undefined) => {
        for (const key of keysOf(object, old)) add(key);
      };
      await informer.subscribe({ changed }, signal);
    },
  };
}

/** The key of an object: `<namespace>/<name>`, without the slash for cluster-scoped objects. */
export function keyOf({ metadata }: Readonly<ApiObject>): string {
  const { namespace = '', name = '' } = metadata;
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** The reverse of {@link keyOf}. */
export function splitKey(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return slash < 0 ? { namespace: '', name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** `keysOf` for the objects that a loop manages. */
export function ownKey(object: ApiObject | undefined, old: ApiObject | undefined): Iterable<string> {
  return [keyOf((object ?? old) as ApiObject)];
}

/** Errors which mean that another writer was faster. */
const races: ReadonlySet<string> = new Set(['AlreadyExists', 'Conflict']);

/** Whether a write failed only because another writer was faster. */
export function isRace(error: unknown): boolean {
  return error instanceof StatusError && races.has(error.reason);
}

/** Whether an error means that the loop lacks a right. */
function isForbidden(error: unknown): boolean {
  return error instanceof StatusError && error.reason === 'Forbidden';
}

const usualPauses: Pauses = { firstMs: 10, longestMs: 60_000 };

/**
 * The frame of the loops: informers fill a queue of keys, and `reconcile` brings the object behind a key to the desired
 * state. The work on a key begins when the informers show everything that the last work on this key wrote, so a loop
 * never does anything twice because it has not seen its own writes yet.
 */
export abstract class ReconcileLoop implements ControlLoop {
  /** The name of the loop in logs and, unless {@link account} differs, its service account. */
  abstract readonly name: string;
  /** How many keys are worked on at once. */
  protected readonly workers: number = 5;
  protected readonly pauses: Pauses = usualPauses;
  /**
   * How long after the start of a term a missing right is not logged, in milliseconds: in a new cluster the loops may
   * begin a moment before the default policy is written.
   */
  protected readonly quietRefusalsMs: number = 5_000;
  /** Writes events about objects of the loop. */
  private recorder: LoopEvents | undefined;
  private queue: WorkQueue | undefined;

  constructor(protected readonly dependencies: ReconcileDependencies) {}

  /** The sources that the loop reads from memory. Called at the start of each term. */
  protected abstract sources(): readonly Source[];

  /**
   * Brings the object behind `key` closer to the desired state, from the informers and fresh reads; must be safe to
   * repeat. An error is logged, unless it means that another writer was faster, and the key is tried again after a
   * growing pause.
   */
  protected abstract reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome>;

  /** The party of a key: parties share the workers evenly. */
  protected partyOf(key: string): string {
    return namespaceOfKey(key);
  }

  /** Called when all informers are filled, before any work. */
  protected started(_signal: AbortSignal): void | Promise<void> {}

  /** The service account that the loop acts as. */
  protected get account(): string {
    return this.name;
  }

  /** The user that the loop acts as. */
  protected get user(): UserInfo {
    return loopUser(this.account, this.dependencies.names);
  }

  /** The name of the queue in metrics. */
  protected get queueName(): string {
    return this.name;
  }

  /** The component that events name. */
  protected get component(): string {
    return this.name;
  }

  protected get events(): LoopEvents {
    this.recorder ??= new LoopEvents(this.dependencies, this.account, this.component, this.user);
    return this.recorder;
  }

  /** Queues a key, after a while if `afterMs` is given; an earlier requested time stays. */
  protected enqueue(key: string, afterMs = 0): void {
    if (afterMs <= 0) this.queue?.add(key);
    else this.queue?.addAfter(key, afterMs);
  }

  /** The informer of a built-in resource. `group` is the upstream name without the vendor's suffix: `apps`, `batch`. */
  protected informer<T extends ApiObject>(group: string, resource: string): Informer<T> {
    return this.dependencies.informers.of<T>(this.resource(group, resource));
  }

  /** The client of a built-in resource; see {@link informer}. */
  protected client<T extends ApiObject>(group: string, resource: string): ResourceClient<T> {
    return this.dependencies.client.of<T>(this.resource(group, resource));
  }

  private resource(group: string, resource: string): GroupResource {
    return { group: groupName(group, this.dependencies.names), resource };
  }

  async run(signal: AbortSignal): Promise<void> {
    const { timers, logger, queues } = this.dependencies;
    const failed = new AbortController();
    const ended = AbortSignal.any([signal, failed.signal]);
    const sources = this.sources();
    const { user, account, pauses } = this;
    const begun = timers.elapsed();
    const isEarly = () => timers.elapsed() - begun < this.quietRefusalsMs;
    const queue = new WorkQueue({
      work: async (key, _signal, rest) => {
        const work = new ReconcileContext(user, account, timers.now(), ended, rest);
        try {
          return await this.reconcile(key, work);
        } catch (error) {
          if (isRace(error) || (isForbidden(error) && isEarly())) return 'later';
          throw error;
        } finally {
          await Promise.all(sources.map(({ informer }) => informer.reached(work.written)));
        }
      },
      onFault: (key, error, suppressed) => {
        const others = suppressed === 0 ? {} : { suppressed };
        logger.warn('a control loop could not finish its work on a key yet', {
          loop: this.name,
          key,
          error,
          ...others,
        });
      },
      workers: this.workers,
      partyOf: (key) => this.partyOf(key),
      firstPauseMs: pauses.firstMs,
      longestPauseMs: pauses.longestMs,
      timers,
      observer: queues?.of(this.queueName),
      pace: loopPace,
    });
    this.queue = queue;
    this.events.endWith(ended);
    let work: Promise<void> | undefined;
    try {
      await Promise.all(sources.map(({ informer }) => informer.use(ended)));
      if (ended.aborted) return;
      await this.started(ended);
      const feeding = sources.map(({ feed }) => feed((key) => queue.add(key), ended));
      work = queue.run(ended);
      await Promise.all([work, ...feeding]);
      await this.recorder?.flushed();
    } finally {
      failed.abort();
      await work;
      this.queue = undefined;
    }
  }
}
