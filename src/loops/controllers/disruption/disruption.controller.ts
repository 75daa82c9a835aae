import type { ApiObject } from '../../../base/machinery/api-object.js';
import { labelSelectorFromObject } from '../../../base/machinery/label-selector.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import { conflictError, modifiedMessage, StatusError } from '../../../base/machinery/status-error.js';
import type { PodTemplateSpec } from '../../../objects/apis/core/v1/pod-spec.types.js';
import type { PodDisruptionBudgetStatus } from '../../../objects/apis/policy/v1/pod-disruption-budget.types.js';
import { controllerOf, type StoredPod } from '../frame/indexes.js';
import { isPodReady } from '../frame/pod-state.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import { keyOf, ReconcileLoop, type Source, source, splitKey } from '../frame/reconcile-loop.js';
import { errorMessage } from '../frame/refusals.js';
import { rememberedSelectors } from '../frame/selected-objects.js';
import { type Labels, manyKeys, WideChanges } from '../frame/wide-changes.js';
import type { WorkOutcome } from '../work-queue.js';
import {
  budgetCountsOf,
  budgetStatus,
  type Counts,
  failedStatus,
  leavingPods,
  needsExpected,
  type StoredBudget,
} from './budget-status.js';
import { type ControllerSources, expectedPods } from './expected-pods.js';
import { clearTarget, staleInMs } from './stale-target.js';

/** Prefix of the keys of pods; all other keys are those of budgets. */
const podPrefix = 'pod ';

/**
 * Counts the pods of disruption budgets, so that evictions know which pods they may evict (specification 2.6, 3). Also
 * removes the condition `DisruptionTarget` from pods that were to be evicted and stayed.
 */
export class DisruptionController extends ReconcileLoop {
  readonly name = 'disruption-controller';
  private readonly budgets = this.informer<StoredBudget>('policy', 'poddisruptionbudgets');
  private readonly pods = this.informer<StoredPod>('', 'pods');
  private readonly controllers: ControllerSources = {
    registry: this.dependencies.registry,
    client: this.dependencies.client,
    deployments: this.informer('apps', 'deployments'),
    replicaSets: this.informer('apps', 'replicasets'),
    statefulSets: this.informer('apps', 'statefulsets'),
    replicationControllers: this.informer('', 'replicationcontrollers'),
  };
  /** A missing selector selects nothing, an empty one everything (specification 2.6). */
  private readonly selectorOf = rememberedSelectors(({ spec }: StoredBudget) => labelSelectorFromObject(spec.selector));
  private readonly wide = new WideChanges(
    (key) => this.enqueue(key),
    (namespace, labels) => {
      for (const key of this.budgetsOf(namespace, labels)) this.enqueue(key);
    },
  );

  protected override get component(): string {
    return 'controllermanager';
  }

  protected sources(): readonly Source[] {
    const { deployments, replicaSets, statefulSets, replicationControllers } = this.controllers;
    this.wide.clear();
    return [
      source(this.budgets, (budget, old) => [keyOf((budget ?? old) as StoredBudget)]),
      source(this.pods, (pod, old) => this.keysOfPod(pod, old)),
      source(deployments, (object, old) => this.keysOfController(object, old)),
      source(replicaSets, (object, old) => this.keysOfController(object, old)),
      source(statefulSets, (object, old) => this.keysOfController(object, old)),
      source(replicationControllers, (object, old) => this.keysOfController(object, old)),
    ];
  }

  protected async reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    if (this.wide.isKey(key)) return this.wide.work(key);
    return key.startsWith(podPrefix) ? this.refresh(key.slice(podPrefix.length), work) : this.count(key, work);
  }

  private async count(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { namespace, name } = splitKey(key);
    const budget = this.budgets.get(namespace, name);
    if (budget === undefined) return 'done';
    const now = this.dependencies.timers.now();
    try {
      const selector = this.selectorOf(budget);
      const pods = [...this.pods.inNamespace(namespace)].filter(({ metadata }) => selector.matches(metadata.labels));
      if (pods.length === 0) this.events.normal(budget, 'NoPods', 'No matching pods found');
      const counts = await this.countsOf(budget, pods, work);
      const leaving = leavingPods(pods, budget.status, now);
      for (const pod of leaving.stayed) {
        this.events.warning(pod, 'NotDeleted', `Pod was expected by PDB ${key} to be deleted but it wasn't`);
      }
      await this.write(budget, budgetStatus(budget, pods, counts, now), work);
      return leaving.nextMs ?? 'done';
    } catch (error) {
      if (!(error instanceof StatusError && error.reason === 'Conflict')) {
        await this.write(budget, failedStatus(budget, errorMessage(error), now), work);
      }
      throw error;
    }
  }

  private async countsOf(budget: StoredBudget, pods: readonly StoredPod[], work: ReconcileContext): Promise<Counts> {
    if (!needsExpected(budget)) return budgetCountsOf(budget, pods.length);
    try {
      const { count, unmanaged } = await expectedPods(work, pods, this.controllers);
      if (unmanaged.length > 0) this.warnOfUnmanaged(budget);
      return budgetCountsOf(budget, count);
    } catch (error) {
      const text = `Failed to calculate the number of expected pods: ${errorMessage(error)}`;
      this.events.warning(budget, 'CalculateExpectedPodCountFailed', text);
      throw error;
    }
  }

  private warnOfUnmanaged(budget: StoredBudget): void {
    const text =
      'Some of the selected pods have no controller, so nobody says how many there should be and the status may be ' +
      'wrong. To count such pods, set spec.minAvailable to an integer.';
    this.events.warning(budget, 'UnmanagedPods', text);
  }

  /**
   * Writes the status computed for `budget`. Throws a conflict if the budget changed since: evictions write its status
   * too.
   */
  private async write(budget: StoredBudget, status: PodDisruptionBudgetStatus, work: ReconcileContext): Promise<void> {
    if (deepEqual(status, budget.status)) return;
    const client = this.client<StoredBudget>('policy', 'poddisruptionbudgets');
    const { generation, name = '' } = budget.metadata;
    await client.updateStatus(work, budget, (live) => {
      if (live.metadata.generation !== generation || !deepEqual(live.status, budget.status)) {
        throw conflictError({ group: 'policy', resource: 'poddisruptionbudgets' }, name, modifiedMessage);
      }
      live.status = status;
      return live;
    });
  }

  /** Removes the condition from a pod that was to be evicted and stayed. */
  private async refresh(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { namespace, name } = splitKey(key);
    const pod = this.pods.get(namespace, name);
    const now = this.dependencies.timers.now();
    const wait = pod && staleInMs(pod, now);
    if (pod === undefined || wait === undefined) return 'done';
    if (wait > 0) return wait;
    await this.client<StoredPod>('', 'pods').updateStatus(work, pod, (live) => {
      if (staleInMs(live, now) !== 0) return undefined;
      clearTarget(live, now);
      return live;
    });
    return 'done';
  }

  /** The keys of the budgets that a change of a pod concerns, and the pod's own key if it is about to be disrupted. */
  private *keysOfPod(pod: StoredPod | undefined, old: StoredPod | undefined): Iterable<string> {
    if (pod !== undefined && staleInMs(pod, this.dependencies.timers.now()) !== undefined) yield podPrefix + keyOf(pod);
    if (pod !== undefined && old !== undefined && looksSame(pod, old)) return;
    const { namespace = '', labels } = ((pod ?? old) as StoredPod).metadata;
    yield* this.concerned(namespace, labels);
    const before = old?.metadata.labels;
    if (pod !== undefined && old !== undefined && !deepEqual(labels, before)) yield* this.concerned(namespace, before);
  }

  /** The keys of the budgets of a controller whose desired number of pods changed. */
  private *keysOfController(object: Controller | undefined, old: Controller | undefined): Iterable<string> {
    if (object === undefined || old === undefined || object.spec.replicas === old.spec.replicas) return;
    yield* this.concerned(object.metadata.namespace ?? '', object.spec.template?.metadata?.labels);
  }

  /** The keys of the budgets that select these labels, unless they are very many, which are queued later. */
  private *concerned(namespace: string, labels: Labels | undefined): Iterable<string> {
    if (this.budgets.inNamespace(namespace).size > manyKeys) this.wide.note(namespace, labels);
    else yield* this.budgetsOf(namespace, labels ?? {});
  }

  /** The keys of the budgets that select these labels, or of all budgets of the namespace. */
  private *budgetsOf(namespace: string, labels: Labels | undefined): Iterable<string> {
    for (const budget of this.budgets.inNamespace(namespace)) {
      if (labels === undefined || this.selectorOf(budget).matches(labels)) yield keyOf(budget);
    }
  }
}

/** The common shape of the controllers of pods. */
type Controller = ApiObject & { spec: { replicas?: number; template?: PodTemplateSpec } };

/** Whether two states of a pod are equal for a budget. */
function looksSame(pod: StoredPod, old: StoredPod): boolean {
  return (
    isPodReady(pod) === isPodReady(old) &&
    pod.metadata.deletionTimestamp === old.metadata.deletionTimestamp &&
    controllerOf(pod)?.uid === controllerOf(old)?.uid &&
    deepEqual(pod.metadata.labels ?? {}, old.metadata.labels ?? {})
  );
}
