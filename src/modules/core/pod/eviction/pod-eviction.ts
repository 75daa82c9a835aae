import { setImmediate } from 'node:timers/promises';
import type { ApiObject } from '../../../../base/machinery/api-object.js';
import { formatTime } from '../../../../base/machinery/clock.js';
import { labelSelectorFromObject, SelectorError } from '../../../../base/machinery/label-selector.js';
import { throwIfLarge } from '../../../../base/machinery/large-work.js';
import type { RequestContext } from '../../../../base/machinery/request-context.js';
import { notFoundError, StatusError, timeoutError } from '../../../../base/machinery/status-error.js';
import { groupName, type VendorNames } from '../../../../base/machinery/vendor.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import type { Eviction } from '../../../../objects/apis/policy/v1/eviction.types.js';
import type { PodDisruptionBudget } from '../../../../objects/apis/policy/v1/pod-disruption-budget.types.js';
import { checkPreconditions } from '../../../../objects/registry/metadata/before-delete.js';
import { checkedDeleteOptions } from '../../../../objects/registry/metadata/checked-delete-options.js';
import { partOf } from '../../../../objects/registry/resource-definition.js';
import { parseStored, parseText } from '../../../../objects/registry/store/object-codec.js';
import type { ResourceStores } from '../../../../objects/registry/store/resource-stores.js';
import type { Store } from '../../../../objects/registry/store/store.js';
import type { DeleteOptions } from '../../../../objects/registry/strategy.js';
import type { SubresourceAction } from '../../../../objects/registry/subresource-definition.js';
import { mayGoUnready, unsettledBudgetError, withDisruption } from './disruption-budget.js';

/** How often the eviction is retried when the pod changes meanwhile. */
const maxAttempts = 20;
const pageSize = 500;
/** How many characters of budgets are read before other requests get their turn. */
const readAtOnce = 128 * 1024;

/** A validating admission that allows everything: the eviction itself was already checked. */
const admitted = async () => {};

/** Evicts pods as far as their budgets allow (specification 2.6, 4.1). */
export class PodEviction {
  constructor(
    private readonly names: VendorNames,
    private readonly stores: ResourceStores,
  ) {}

  /**
   * Deletes the pod after counting it against its budget. Throws a StatusError when the pod must stay: 429 because of
   * the budget, 500 when several budgets select it, 404, 409 and 422 as for a delete. A refused eviction changes
   * nothing.
   */
  async evict(request: RequestContext, action: SubresourceAction): Promise<ApiObject> {
    const { namespace, name } = action;
    const eviction = action.body as unknown as Eviction;
    const { preconditions } = eviction.deleteOptions ?? {};
    await action.validate(action.body);
    for (let attempt = 1; ; attempt++) {
      const pod = await this.readPod(request, namespace, name);
      const { definition } = this.podStore().resource;
      checkPreconditions(definition, pod as unknown as ApiObject, { dryRun: false, preconditions });
      // The options are those of the delete, which begins once the pod is known to be the one that is meant.
      const options = this.deleteOptions(eviction, action);
      const { isSettled, budget } = await this.clear(request, pod, options.dryRun);
      // If no budget was charged, the pod must still be in the state that was checked.
      const resourceVersion = isSettled ? options.preconditions?.resourceVersion : pod.metadata.resourceVersion;
      try {
        const version = options.dryRun ? resourceVersion : await this.mark(request, pod, resourceVersion);
        const preconditions = { uid: pod.metadata.uid, resourceVersion: version };
        await this.podStore().delete(request, namespace, name, { ...options, preconditions, validate: admitted });
        return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
      } catch (error) {
        const isRace = error instanceof StatusError && error.reason === 'Conflict' && !isSettled;
        if (!isRace || options.preconditions?.resourceVersion !== undefined) throw error;
        if (budget !== undefined) throw unsettledBudgetError(budget);
        if (attempt === maxAttempts)
          throw timeoutError(`couldn't evict pod ${JSON.stringify(name)} due to conflicts`, 10);
      }
    }
  }

  /**
   * Records in the pod's conditions why it is evicted: jobs classify their pods by it. Resolves with the version that
   * the pod must still have when it is deleted; undefined, as in `resourceVersion`, means any. Throws a 409 when
   * another pod has taken its place.
   */
  private async mark(
    request: RequestContext,
    pod: Pod,
    resourceVersion: string | undefined,
  ): Promise<string | undefined> {
    const { name = '', namespace = '', uid } = pod.metadata;
    const store = this.podStore();
    const { definition } = store.resource;
    const outcome = await store.update(request, namespace, name, {
      dryRun: false,
      validate: admitted,
      subresource: partOf(definition, 'status'),
      transform: (live) => {
        if (live === undefined) throw notFoundError(store.groupResource, name);
        checkPreconditions(definition, live, { dryRun: false, preconditions: { uid, resourceVersion } });
        return { ...live, status: marked((live as unknown as Pod).status, formatTime(this.stores.clock.now())) };
      },
    });
    return resourceVersion === undefined ? undefined : String(outcome.resourceVersion);
  }

  /** The options in the body. Both they and the query may request a dry run. */
  private deleteOptions(
    { deleteOptions = {} }: Eviction,
    { dryRun, garbageCollector = false }: SubresourceAction,
  ): DeleteOptions {
    const options = { ...checkedDeleteOptions(deleteOptions, this.names), garbageCollector };
    if (options.dryRun && !dryRun) return options;
    return { ...options, dryRun };
  }

  /**
   * Throws unless the pod may be evicted, and counts it against its budget where necessary. `isSettled` is false when
   * the pod may be evicted only as long as it does not change.
   */
  private async clear(
    request: RequestContext,
    pod: Pod,
    dryRun: boolean,
  ): Promise<{ readonly isSettled: boolean; readonly budget?: string }> {
    if (hasEnded(pod) || pod.metadata.deletionTimestamp !== undefined) return { isSettled: true };
    if (pod.status.phase === 'Pending') return { isSettled: false };
    const [budget, ...others] = await this.budgetsOf(request, pod);
    if (budget === undefined) return { isSettled: true };
    if (others.length > 0) throw severalBudgetsError();
    const name = budget.metadata.name as string;
    if (!isReady(pod) && mayGoUnready(budget)) return { isSettled: false, budget: name };
    await this.count(request, budget, pod, dryRun);
    return { isSettled: true };
  }

  private async count(request: RequestContext, budget: PodDisruptionBudget, pod: Pod, dryRun: boolean): Promise<void> {
    const { name = '', namespace = '' } = budget.metadata;
    const store = this.budgetStore();
    const subresource = partOf(store.resource.definition, 'status');
    await store.update(request, namespace, name, {
      dryRun,
      validate: admitted,
      subresource,
      transform: (live) => {
        if (live === undefined) throw notFoundError(store.groupResource, name);
        const now = formatTime(this.stores.clock.now());
        const status = withDisruption(live as unknown as PodDisruptionBudget, pod.metadata.name as string, now);
        return { ...live, metadata: { ...live.metadata }, status };
      },
    });
    // The request must not move to another thread and start again: that would count the pod twice.
    request.mayChangeThread = false;
  }

  /** Budgets that select the pod, in the order of their names. */
  private async budgetsOf(request: RequestContext, pod: Pod): Promise<PodDisruptionBudget[]> {
    const store = this.budgetStore();
    const { namespace = '', labels = {} } = pod.metadata;
    const found: PodDisruptionBudget[] = [];
    let page = await store.list({ namespace, limit: pageSize });
    const at = page.resourceVersion;
    let characters = 0;
    for (;;) {
      for (const { json } of page.items) {
        throwIfLarge(request, json);
        const budget = parseText(store.resource, json) as unknown as PodDisruptionBudget;
        if (selects(budget, labels)) found.push(budget);
        characters += json.length;
        if (characters < readAtOnce) continue;
        characters = 0;
        await setImmediate();
      }
      const last = page.items.at(-1);
      if (!page.more || last === undefined) return found;
      page = await store.list({ namespace, limit: pageSize, at, after: { namespace, name: last.key.name } });
    }
  }

  private async readPod(request: RequestContext, namespace: string, name: string): Promise<Pod> {
    const store = this.podStore();
    const stored = await store.get(namespace, name);
    throwIfLarge(request, stored.json);
    return parseStored(store.resource, stored) as unknown as Pod;
  }

  private podStore(): Store {
    return this.stores.named('', 'pods');
  }

  private budgetStore(): Store {
    return this.stores.named(groupName('policy', this.names), 'poddisruptionbudgets');
  }
}

function selects({ spec }: PodDisruptionBudget, labels: Readonly<Record<string, string>>): boolean {
  try {
    return labelSelectorFromObject(spec.selector).matches(labels);
  } catch (error) {
    // A budget stored before its selector was checked may be invalid; it selects nothing.
    if (error instanceof SelectorError) return false;
    throw error;
  }
}

function hasEnded({ status: { phase } }: Pod): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** A status with the condition of a pod that is evicted. */
function marked(status: Pod['status'], now: string): Pod['status'] {
  const type = 'DisruptionTarget';
  const conditions = status.conditions ?? [];
  const known = conditions.find((condition) => condition.type === type);
  const lastTransitionTime = known?.status === 'True' ? known.lastTransitionTime : now;
  const mark = {
    type,
    status: 'True' as const,
    lastProbeTime: null,
    lastTransitionTime,
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  };
  return { ...status, conditions: [...conditions.filter((condition) => condition !== known), mark] };
}

function isReady({ status }: Pod): boolean {
  return (status.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True');
}

function severalBudgetsError(): StatusError {
  const message = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
  return new StatusError('', message, { code: 500 });
}
