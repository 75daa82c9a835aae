import type { ResourceQuota } from '../../apis/core/v1/resource-quota.types.js';
import type { ApiObject } from '../../machinery/api-object.js';
import { compareQuantities, type Quantity } from '../../machinery/values/quantity.js';
import type { VendorNames } from '../../machinery/vendor.js';
import type { Logger } from '../../observability/logger.js';
import { type MeasuredResource, UsageEvaluators } from '../../quota/evaluators.js';
import { correctedStatus } from '../../quota/recount.js';
import { ChangeInformer } from '../../registry/informers/change-informer.js';
import { Reflector } from '../../registry/informers/reflector.js';
import type { ResourceRegistry, StoredServedResource } from '../../registry/resource-registry.js';
import { encodeForStorage, parseStored, parseText } from '../../registry/store/object-codec.js';
import { StorageError } from '../../storage/storage.errors.js';
import type { Change, Storage, StoredObject, UpdateDecision } from '../../storage/storage.interface.js';
import type { ControlLoop } from '../control-loop.js';
import type { Timers } from '../timers.js';
import { coreResource } from '../token-secrets.js';
import { type WorkOutcome, WorkQueue } from '../work-queue.js';
import { AskedWork } from './asked-work.js';
import { countUsage } from './count-usage.js';
import { KnownQuotas } from './known-quotas.js';

export interface ResourceQuotaControllerOptions {
  readonly storage: Storage;
  readonly registry: ResourceRegistry;
  readonly names: VendorNames;
  readonly logger: Logger;
  readonly timers: Timers;
  readonly random: () => number;
  /** How often all namespaces are counted, whatever happens, in milliseconds. Default 5 minutes. */
  readonly resyncMs?: number | undefined;
}

type Quota = ResourceQuota & ApiObject;

const workers = 2;
const defaultResyncMs = 300_000;
/** Shortest rest of a namespace after a count; a longer count is followed by a rest of ten times its length. */
const restMs = 250;
const restFactor = 10;
/** New objects are mostly charged already; a count after a while finds those that were not. */
const createdMs = 5_000;
/**
 * Processes hear of a new quota a moment after it is there, and write without charges until then. Counts after these
 * times include what they wrote.
 */
const settleMs = [1_000, 3_000];
/** Texts above this are not compared: the namespace is counted. */
const mostCompared = 64 * 1024;

/**
 * Keeps the status of every quota right (specification 2.4): counts what is used when a quota is new or changed, when
 * something was deleted or has ended, and from time to time. Charges are written by the servers together with the
 * objects, so a count never undoes one (see `correctedStatus`), and needs no pause of the writers to get through.
 */
export class ResourceQuotaController implements ControlLoop {
  readonly name = 'resourcequota-controller';
  private readonly resource: StoredServedResource;
  private readonly evaluators: UsageEvaluators;

  /** @throws Error when the registry lacks resource quotas. */
  constructor(private readonly options: ResourceQuotaControllerOptions) {
    this.resource = coreResource(options.registry, 'resourcequotas');
    this.evaluators = new UsageEvaluators(options.registry, options.names);
  }

  async run(signal: AbortSignal): Promise<void> {
    const failed = new AbortController();
    const term = new Term(this.options, this.resource, this.evaluators, AbortSignal.any([signal, failed.signal]));
    try {
      await term.run();
    } finally {
      failed.abort();
      await term.ended();
    }
  }
}

/** The work while this process leads. */
class Term {
  private readonly queue: WorkQueue;
  private readonly asked: AskedWork;
  private readonly quotas: KnownQuotas;
  private readonly reflector: Reflector;
  private readonly followed = new Map<string, Promise<ChangeInformer>>();
  private work: Promise<void> = Promise.resolve();

  constructor(
    private readonly options: ResourceQuotaControllerOptions,
    private readonly resource: StoredServedResource,
    private readonly evaluators: UsageEvaluators,
    private readonly signal: AbortSignal,
  ) {
    const { storage, registry, timers } = options;
    this.queue = new WorkQueue({
      work: (namespace) => this.count(namespace),
      onFault: (namespace, error) =>
        options.logger.warn('the quotas of a namespace could not be counted yet', { namespace, error }),
      workers,
      firstPauseMs: 500,
      longestPauseMs: 60_000,
      timers,
    });
    this.asked = new AskedWork(timers, signal, (namespace) => this.queue.add(namespace));
    this.quotas = new KnownQuotas((namespace) => this.changed(namespace));
    this.reflector = new Reflector(storage, registry, resource.storageResource, this.quotas, this.lost);
  }

  async run(): Promise<void> {
    const { timers, random, resyncMs = defaultResyncMs } = this.options;
    this.work = this.queue.run(this.signal);
    await this.reflector.start(this.signal);
    while (!this.signal.aborted) {
      await timers.wait(resyncMs * (0.9 + random() / 5), this.signal);
      for (const namespace of this.quotas.all()) this.asked.ask(namespace, random() * resyncMs * 0.5);
    }
    await this.work;
  }

  async ended(): Promise<void> {
    await Promise.all([this.work, this.reflector.stopped()]);
    const informers = await Promise.allSettled(this.followed.values());
    await Promise.all(informers.map((one) => (one.status === 'fulfilled' ? one.value.stopped() : undefined)));
  }

  private readonly lost = (error: unknown): void => {
    if (this.signal.aborted) return;
    this.options.logger.warn('the quota loop lost its place in the change log', { error });
  };

  private changed(namespace: string): void {
    this.asked.ask(namespace, 0);
  }

  /** Follows the objects that the quotas of a namespace count, from now on. */
  private async follow(resources: readonly MeasuredResource[]): Promise<void> {
    await Promise.all(
      resources.map((measured) => {
        const { storageResource } = measured;
        let following = this.followed.get(storageResource);
        if (following === undefined) {
          following = this.startFollowing(measured);
          this.followed.set(storageResource, following);
          following.catch(() => this.followed.delete(storageResource));
        }
        return following;
      }),
    );
  }

  private async startFollowing(measured: MeasuredResource): Promise<ChangeInformer> {
    const handler = {
      changed: ({ namespace }: { readonly namespace: string }, change: Change) => {
        if (this.quotas.has(namespace)) this.objectChanged(namespace, measured, change);
      },
      missed: () => {
        for (const namespace of this.quotas.all()) this.asked.ask(namespace, 0);
      },
    };
    const informer = new ChangeInformer(this.options.storage, measured.storageResource, handler, this.lost);
    await informer.start(this.signal);
    return informer;
  }

  private objectChanged(namespace: string, measured: MeasuredResource, change: Change): void {
    const limited = this.quotas.limitedNames(namespace);
    if (![...limited].some((name) => measured.evaluator.measures(name))) return;
    if (change.type === 'delete' || this.isLess(measured, change)) this.asked.ask(namespace, 0);
    else this.asked.ask(namespace, createdMs);
  }

  /** Whether an object uses less than before. */
  private isLess({ evaluator, storageResource }: MeasuredResource, { type, json, previousJson }: Change): boolean {
    // Objects that only count as such use the same after every update.
    if (type !== 'update' || evaluator.isUniform === true) return false;
    const resource = this.options.registry.findStored(storageResource);
    if (resource === undefined || previousJson === undefined) return true;
    if (json.length + previousJson.length > mostCompared) return true;
    const now = this.options.timers.now();
    const after = evaluator.usage(parseText(resource, json), now);
    const before = evaluator.usage(parseText(resource, previousJson), now);
    return [...before].some(([name, amount]) => compareQuantities(after.get(name) ?? '0', amount) < 0);
  }

  private async count(namespace: string): Promise<WorkOutcome> {
    const { storage, timers } = this.options;
    if (!this.quotas.has(namespace)) return 'done';
    const beganAt = timers.elapsed();
    const limited = [...this.quotas.limitedNames(namespace)];
    const resources = this.evaluators.all().filter(({ evaluator }) => limited.some((name) => evaluator.measures(name)));
    await this.follow(resources);
    // The numbers stand for a version before that of the count: what changes later is seen to have changed.
    await this.reflector.reached(await storage.head());
    const generations = this.quotas.generationsOf(namespace);
    const now = timers.now();
    const page = await storage.list({ resource: this.resource.storageResource, namespace });
    const quotas = page.items.map((item) => parseStored(this.resource, item) as Quota);
    const { signal } = this;
    const query = { namespace, at: page.resourceVersion, quotas, resources, now, signal };
    const { used, endsAt } = await countUsage(storage, this.options.registry, query);
    for (const [i, stored] of page.items.entries()) {
      await this.correct(
        stored,
        quotas[i] as Quota,
        used[i] as Map<string, Quantity>,
        generations.get(stored.key.name),
      );
    }
    if (endsAt !== undefined) this.asked.ask(namespace, Math.max(0, endsAt - timers.now()) + 1_000);
    this.asked.rest(namespace, Math.max(restMs, (timers.elapsed() - beganAt) * restFactor));
    return 'done';
  }

  private async correct(
    stored: StoredObject,
    counted: Quota,
    used: Map<string, Quantity>,
    generation: string | undefined,
  ): Promise<void> {
    if (correctedStatus(counted, counted, used) === undefined) return;
    const { namespace, name } = stored.key;
    const isNew = Object.keys(counted.spec.hard ?? {}).some((name) => !Object.hasOwn(counted.status.hard ?? {}, name));
    let isOutdated = false;
    const decide = async (current: StoredObject | undefined): Promise<UpdateDecision> => {
      if (current === undefined || current.uid !== stored.uid) return { kind: 'unchanged' };
      if (current.resourceVersion !== stored.resourceVersion) {
        await this.reflector.reached(current.resourceVersion);
        isOutdated = this.signal.aborted || this.quotas.generation(namespace, name) !== generation;
        if (isOutdated) return { kind: 'unchanged' };
      }
      const live = parseStored(this.resource, current) as Quota;
      const status = correctedStatus(live, counted, used);
      if (status === undefined) return { kind: 'unchanged' };
      return { kind: 'write', json: encodeForStorage(this.resource, { ...live, status }), uid: current.uid };
    };
    try {
      await this.options.storage.guaranteedUpdate(stored.key, { hint: stored, ignoreNotFound: true }, decide);
    } catch (error) {
      if (!(error instanceof StorageError && error.code === 'KeyNotFound')) throw error;
    }
    if (isOutdated) this.asked.ask(namespace, 0);
    else if (isNew) for (const delayMs of settleMs) void this.askLater(namespace, delayMs);
  }

  /** Asks when the time has come, since only the earliest time is remembered. */
  private async askLater(namespace: string, delayMs: number): Promise<void> {
    await this.options.timers.wait(delayMs, this.signal);
    if (!this.signal.aborted) this.asked.ask(namespace, 0);
  }
}
