import type { ApiObject } from '../../../base/machinery/api-object.js';
import { compareQuantities, type Quantity } from '../../../base/machinery/values/quantity.js';
import type { ResourceQuota } from '../../../objects/apis/core/v1/resource-quota.types.js';
import { correctedStatus } from '../../../objects/quota/recount.js';
import { type MeasuredResource, UsageEvaluators } from '../../../objects/quota/usage-evaluators.js';
import { ChangeInformer } from '../../../objects/registry/informers/change-informer.js';
import type { StoredServedResource } from '../../../objects/registry/resource-registry.js';
import { encodeForStorage, parseStored, parseText } from '../../../objects/registry/store/object-codec.js';
import type { Change, StoredObject, UpdateDecision } from '../../../storage/storage.interface.js';
import { StorageError } from '../../../storage/storage-error.js';
import { type Pauses, type ReconcileDependencies, ReconcileLoop, type Source } from '../frame/reconcile-loop.js';
import { reflectorSource } from '../frame/reflector-source.js';
import { coreResource } from '../token-secrets.js';
import type { WorkOutcome } from '../work-queue.js';
import { AskedWork } from './asked-work.js';
import { countUsage } from './count-usage.js';
import { KnownQuotas } from './known-quotas.js';

export interface ResourceQuotaDependencies extends ReconcileDependencies {
  /** How often all namespaces are counted in any case, in milliseconds. Default 5 minutes. */
  readonly resyncMs?: number | undefined;
}

type Quota = ResourceQuota & ApiObject;

const defaultResyncMs = 300_000;
/** Shortest rest of a namespace after a count; a longer count is followed by a rest of ten times its length. */
const restMs = 250;
const restFactor = 10;
/**
 * When to count after an object was created, in milliseconds: most new objects are charged already, and the count finds
 * the others.
 */
const createdMs = 5_000;
/**
 * When to count again after a quota was created, in milliseconds: processes learn of it a moment later, and write
 * without charges until then. These counts include those writes.
 */
const settleMs = [1_000, 3_000];
/** States of an object with more JSON than this are not compared: the namespace is counted instead. */
const mostCompared = 64 * 1024;

/**
 * Keeps the status of every quota right (specification 2.4): counts what is used when a quota is new or changed, when
 * something was deleted or has ended, and from time to time. Charges are written by the servers together with the
 * objects, so a count never undoes one (see `correctedStatus`), and does not need writers to pause.
 */
export class ResourceQuotaController extends ReconcileLoop {
  readonly name = 'resourcequota-controller';
  protected override readonly workers = 2;
  protected override readonly pauses: Pauses = { firstMs: 500, longestMs: 60_000 };
  private readonly served: StoredServedResource;
  private readonly evaluators: UsageEvaluators;
  private term: Term;

  /** @throws Error when the registry lacks resource quotas. */
  constructor(private readonly own: ResourceQuotaDependencies) {
    super(own);
    this.served = coreResource(own.registry, 'resourcequotas');
    this.evaluators = new UsageEvaluators(own.registry, own.names);
    this.term = this.newTerm(AbortSignal.abort());
  }

  protected override get queueName(): string {
    return 'resourcequota_primary';
  }

  private newTerm(signal: AbortSignal): Term {
    return new Term(this.own, this.served, this.evaluators, signal, (namespace) => this.enqueue(namespace));
  }

  override async run(signal: AbortSignal): Promise<void> {
    const failed = new AbortController();
    const term = this.newTerm(AbortSignal.any([signal, failed.signal]));
    this.term = term;
    try {
      await super.run(signal);
    } finally {
      failed.abort();
      await term.ended();
    }
  }

  protected sources(): readonly Source[] {
    return [this.term.known];
  }

  protected override started(): void {
    this.term.recount();
  }

  protected reconcile(namespace: string): Promise<WorkOutcome> {
    return this.term.count(namespace);
  }
}

/** The work of this process during one term as leader. */
class Term {
  /** The quotas of all namespaces. */
  readonly known: Source;
  private readonly asked: AskedWork;
  private readonly quotas: KnownQuotas;
  private readonly followed = new Map<string, Promise<ChangeInformer>>();
  private recounts: Promise<void> = Promise.resolve();

  constructor(
    private readonly dependencies: ResourceQuotaDependencies,
    private readonly resource: StoredServedResource,
    private readonly evaluators: UsageEvaluators,
    private readonly signal: AbortSignal,
    begin: (namespace: string) => void,
  ) {
    this.asked = new AskedWork(dependencies.timers, signal, begin);
    this.quotas = new KnownQuotas((namespace) => this.asked.ask(namespace, 0));
    this.known = reflectorSource(dependencies, resource.storageResource, this.quotas);
  }

  /** Requests a count of everything from time to time. */
  recount(): void {
    const again = async () => {
      const { timers, random, resyncMs = defaultResyncMs } = this.dependencies;
      for (;;) {
        await timers.wait(resyncMs * (0.9 + random() / 5), this.signal);
        if (this.signal.aborted) return;
        for (const namespace of this.quotas.all()) this.asked.ask(namespace, random() * resyncMs * 0.5);
      }
    };
    this.recounts = again();
  }

  async ended(): Promise<void> {
    await this.recounts;
    const informers = await Promise.allSettled(this.followed.values());
    await Promise.all(informers.map((one) => (one.status === 'fulfilled' ? one.value.stopped() : undefined)));
  }

  private readonly lost = (error: unknown): void => {
    if (this.signal.aborted) return;
    this.dependencies.logger.warn('the quota loop lost its place in the change log', { error });
  };

  /** From now on follows the objects that the quotas of a namespace count. */
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
    const informer = new ChangeInformer(this.dependencies.storage, measured.storageResource, handler, this.lost);
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
    // Objects that count only by their number use the same after every update.
    if (type !== 'update' || evaluator.isUniform === true) return false;
    const resource = this.dependencies.registry.findStored(storageResource);
    if (resource === undefined || previousJson === undefined) return true;
    if (json.length + previousJson.length > mostCompared) return true;
    const now = this.dependencies.timers.now();
    const after = evaluator.usage(parseText(resource, json), now);
    const before = evaluator.usage(parseText(resource, previousJson), now);
    return [...before].some(([name, amount]) => compareQuantities(after.get(name) ?? '0', amount) < 0);
  }

  /** Counts what a namespace uses, and corrects its quotas. */
  async count(namespace: string): Promise<WorkOutcome> {
    const { storage, timers } = this.dependencies;
    if (!this.quotas.has(namespace)) return 'done';
    const beganAt = timers.elapsed();
    const limited = [...this.quotas.limitedNames(namespace)];
    const resources = this.evaluators.all().filter(({ evaluator }) => limited.some((name) => evaluator.measures(name)));
    await this.follow(resources);
    // The generations are those of a version before the count, so later changes are recognized as changes.
    await this.known.informer.reached(await storage.head());
    const generations = this.quotas.generationsOf(namespace);
    const now = timers.now();
    const page = await storage.list({ resource: this.resource.storageResource, namespace });
    const quotas = page.items.map((item) => parseStored(this.resource, item) as Quota);
    const { signal } = this;
    const query = { namespace, at: page.resourceVersion, quotas, resources, now, signal };
    const { used, endsAt } = await countUsage(storage, this.dependencies.registry, query);
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
        await this.known.informer.reached(current.resourceVersion);
        isOutdated = this.signal.aborted || this.quotas.generation(namespace, name) !== generation;
        if (isOutdated) return { kind: 'unchanged' };
      }
      const live = parseStored(this.resource, current) as Quota;
      const status = correctedStatus(live, counted, used);
      if (status === undefined) return { kind: 'unchanged' };
      return { kind: 'write', json: encodeForStorage(this.resource, { ...live, status }), uid: current.uid };
    };
    try {
      await this.dependencies.storage.guaranteedUpdate(
        stored.key,
        { cachedCopy: stored, ignoreNotFound: true },
        decide,
      );
    } catch (error) {
      if (!(error instanceof StorageError && error.code === 'KeyNotFound')) throw error;
    }
    if (isOutdated) this.asked.ask(namespace, 0);
    else if (isNew) for (const delayMs of settleMs) void this.askLater(namespace, delayMs);
  }

  /** Requests the next check after each time has come, since only the earliest time is remembered. */
  private async askLater(namespace: string, delayMs: number): Promise<void> {
    await this.dependencies.timers.wait(delayMs, this.signal);
    if (!this.signal.aborted) this.asked.ask(namespace, 0);
  }
}
