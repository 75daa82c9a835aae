import { isDeepStrictEqual } from 'node:util';
import { AutoscalerOptions } from '../../../base/config/autoscaler.options.js';
import { type LabelSelector, parseLabelSelector } from '../../../base/machinery/label-selector.js';
import type { MetricStatus } from '../../../objects/apis/autoscaling/v2/metric.types.js';
import type { StoredPod } from '../frame/indexes.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import {
  keyOf,
  type ReconcileDependencies,
  ReconcileLoop,
  type Source,
  source,
  splitKey,
} from '../frame/reconcile-loop.js';
import { errorMessage } from '../frame/refusals.js';
import type { AutoscalerMetrics, AutoscalerOutcome } from '../metrics/autoscaler-metrics.js';
import type { WorkOutcome } from '../work-queue.js';
import { MetricFault } from './metric-fault.js';
import { MetricProposals, type Proposal, type ProposalRequest, tolerancesOf } from './metric-proposals.js';
import { MetricsClient } from './metrics-client.js';
import type { MetricsApi } from './remote-metrics.js';
import { type ScaleTarget, ScaleTargets } from './scale-targets.js';
import { ScalingMemory } from './scaling-memory.js';
import { limitReplicas } from './scaling-rules.js';
import { SelectorOverlaps } from './selector-overlaps.js';
import { StatusDraft, type StoredAutoscaler } from './status-draft.js';

export interface HorizontalPodAutoscalerDependencies extends ReconcileDependencies {
  readonly metrics: MetricsApi;
  readonly autoscaler?: Readonly<AutoscalerOptions> | undefined;
}

/** The result that an autoscaler has computed. */
interface Decision {
  readonly replicas: number;
  /** Why the number of replicas changes, if it does. */
  readonly reason: string;
  readonly metrics: readonly MetricStatus[];
}

/** Ends the work on an autoscaler; its status reports why. */
class Undecided extends Error {
  constructor(
    message: string,
    readonly metrics: readonly MetricStatus[] = [],
    /** Whose fault it is: the spec's, or that of what was asked. */
    readonly fault: 'spec' | 'internal' = 'internal',
  ) {
    super(message);
  }
}

/**
 * Sets the replicas of the objects that autoscalers scale, periodically, so that the metrics reach their targets.
 * Earlier recommendations and changes are kept only in memory and lost with the process.
 */
export class HorizontalPodAutoscalerController extends ReconcileLoop {
  readonly name = 'horizontal-pod-autoscaler';
  protected override readonly workers: number;
  private readonly options: Readonly<AutoscalerOptions>;
  private readonly autoscalers = this.informer<StoredAutoscaler>('autoscaling', 'horizontalpodautoscalers');
  private readonly pods = this.informer<StoredPod>('', 'pods');
  private readonly memories = new Map<string, ScalingMemory>();
  private readonly overlaps = new SelectorOverlaps();
  private readonly targets: ScaleTargets;
  private readonly proposals: MetricProposals;

  constructor(dependencies: HorizontalPodAutoscalerDependencies) {
    super(dependencies);
    this.options = dependencies.autoscaler ?? new AutoscalerOptions();
    this.workers = this.options.workers;
    this.targets = new ScaleTargets(dependencies.registry, dependencies.client);
    this.proposals = new MetricProposals(new MetricsClient(dependencies.metrics), (one) => this.targets.describe(one));
  }

  protected sources(): readonly Source[] {
    // Only a changed spec is handled at once; all other changes wait for the next period.
    const keys = (object: StoredAutoscaler | undefined, old: StoredAutoscaler | undefined) =>
      object !== undefined && old !== undefined && isDeepStrictEqual(object.spec, old.spec)
        ? []
        : [keyOf((object ?? old) as StoredAutoscaler)];
    return [source(this.autoscalers, keys), source(this.pods)];
  }

  protected override started(signal: AbortSignal): void {
    signal.addEventListener('abort', () => this.counters?.clear(), { once: true });
  }

  protected async reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { namespace, name } = splitKey(key);
    const autoscaler = this.autoscalers.get(namespace, name);
    if (autoscaler === undefined) {
      this.counters?.forget(key);
      this.memories.delete(key);
      this.overlaps.forget(key);
      return 'done';
    }
    this.counters?.present(key);
    const draft = new StatusDraft(autoscaler, work.now);
    const started = performance.now();
    let outcome: AutoscalerOutcome = { action: 'none', error: 'internal' };
    try {
      outcome = { action: await this.scale(key, autoscaler, draft, work), error: 'none' };
    } catch (error) {
      if (!(error instanceof Undecided)) throw error;
      outcome = { action: 'none', error: error.fault };
    } finally {
      this.counters?.reconciled(outcome, (performance.now() - started) / 1000);
    }
    if (!isDeepStrictEqual(draft.status, autoscaler.status)) {
      await this.client<StoredAutoscaler>('autoscaling', 'horizontalpodautoscalers').updateStatus(
        work,
        autoscaler,
        (live) => ({ ...live, status: draft.status }),
      );
    }
    return this.options.syncPeriodMs;
  }

  private async scale(
    key: string,
    autoscaler: StoredAutoscaler,
    draft: StatusDraft,
    work: ReconcileContext,
  ): Promise<AutoscalerOutcome['action']> {
    const target = await this.findTarget(key, autoscaler, draft, work);
    const current = target.scale.spec.replicas ?? 0;
    const memory = this.memoryOf(key, current, work.now);
    memory.forget(autoscaler.spec, this.options.downscaleStabilizationMs, work.now);
    let decision: Decision;
    try {
      decision = await this.decide(key, autoscaler, target, memory, draft, work);
    } catch (error) {
      if (error instanceof Undecided) draft.setReplicas(current, error.metrics);
      throw error;
    }
    const { replicas, reason, metrics } = decision;
    draft.setReplicas(current, metrics);
    if (replicas !== current) await this.rescale(autoscaler, target, replicas, reason, draft, work);
    draft.setDesired(replicas, replicas !== current);
    if (replicas !== current && autoscaler.spec.behavior !== undefined) memory.rescaled(current, replicas, work.now);
    return actionOf(current, replicas);
  }

  private get counters(): AutoscalerMetrics | undefined {
    return this.dependencies.loopMetrics?.autoscalers;
  }

  private memoryOf(key: string, current: number, now: number): ScalingMemory {
    const known = this.memories.get(key);
    if (known !== undefined) return known;
    const memory = new ScalingMemory();
    // After a start nothing is scaled down before the usual wait is over.
    memory.recommend(current, now);
    this.memories.set(key, memory);
    return memory;
  }

  private async findTarget(
    key: string,
    autoscaler: StoredAutoscaler,
    draft: StatusDraft,
    work: ReconcileContext,
  ): Promise<ScaleTarget> {
    const { namespace = '' } = autoscaler.metadata;
    let target: ScaleTarget;
    try {
      target = await this.targets.find(work, namespace, autoscaler.spec.scaleTargetRef);
    } catch (error) {
      this.overlaps.forget(key);
      const text = errorMessage(error);
      this.events.warning(autoscaler, 'FailedGetScale', text);
      const message = `the HPA controller was unable to get the target's current scale: ${text}`;
      draft.setCondition('AbleToScale', 'False', 'FailedGetScale', message);
      throw new Undecided(text);
    }
    const message = "the HPA controller was able to get the target's current scale";
    draft.setCondition('AbleToScale', 'True', 'SucceededGetScale', message);
    return target;
  }

  private async decide(
    key: string,
    autoscaler: StoredAutoscaler,
    target: ScaleTarget,
    memory: ScalingMemory,
    draft: StatusDraft,
    work: ReconcileContext,
  ): Promise<Decision> {
    const { spec } = autoscaler;
    const { minReplicas = 1, maxReplicas } = spec;
    const current = target.scale.spec.replicas ?? 0;
    const unmeasured = (replicas: number, reason: string): Decision => ({ replicas, reason, metrics: [] });
    if (current === 0 && minReplicas !== 0) {
      const message = 'scaling is disabled since the replica count of the target is zero';
      draft.setCondition('ScalingActive', 'False', 'ScalingDisabled', message);
      return unmeasured(0, '');
    }
    if (current > maxReplicas) return unmeasured(maxReplicas, 'Current number of replicas above Spec.MaxReplicas');
    if (current < minReplicas) return unmeasured(minReplicas, 'Current number of replicas below Spec.MinReplicas');
    const request = this.requestFor(key, autoscaler, target, draft, work);
    const { proposal, metrics } = await this.measure(autoscaler, request, draft);
    const limited = limitReplicas({
      spec,
      current,
      desired: proposal.replicas,
      history: memory,
      now: work.now,
      downscaleMs: this.options.downscaleStabilizationMs,
    });
    memory.recommend(proposal.replicas, work.now);
    draft.setCondition('AbleToScale', 'True', limited.able.reason, limited.able.message);
    const { reason, message } = limited.limit;
    draft.setCondition('ScalingLimited', limited.isLimited ? 'True' : 'False', reason, message);
    const why = proposal.replicas > current ? `${proposal.name} above target` : 'All metrics below target';
    return { replicas: limited.replicas, reason: why, metrics };
  }

  /** The pods of the target, by its selector. */
  private requestFor(
    key: string,
    autoscaler: StoredAutoscaler,
    { scale }: ScaleTarget,
    draft: StatusDraft,
    work: ReconcileContext,
  ): ProposalRequest {
    const { namespace = '' } = autoscaler.metadata;
    const { selector: text = '' } = scale.status;
    const refuse = (eventReason: string, event: string, reason: string, message: string): never => {
      this.events.warning(autoscaler, eventReason, event);
      draft.setCondition('ScalingActive', 'False', reason, message);
      throw new Undecided(message, [], 'spec');
    };
    if (text === '') {
      const message = "the HPA target's scale is missing a selector";
      refuse('SelectorRequired', 'selector is required', 'InvalidSelector', message);
    }
    let selector: LabelSelector;
    try {
      selector = parseLabelSelector(text);
    } catch (error) {
      const message = `couldn't convert selector into a corresponding internal selector object: ${errorMessage(error)}`;
      return refuse('InvalidSelector', message, 'InvalidSelector', message);
    }
    const pods = [...this.pods.inNamespace(namespace)].filter((pod) => selector.matches(pod.metadata.labels));
    const others = this.overlaps.of(key, namespace, text, selector, pods);
    if (others.length > 0) {
      const message = `pods by selector ${text} are controlled by multiple HPAs: [${[...others, key].sort().join(' ')}]`;
      refuse('AmbiguousSelector', message, 'AmbiguousSelector', message);
    }
    const { scaleUp, scaleDown } = autoscaler.spec.behavior ?? {};
    return {
      namespace,
      selector: text,
      pods,
      currentReplicas: scale.spec.replicas ?? 0,
      statusReplicas: scale.status.replicas,
      tolerances: tolerancesOf(scaleUp, scaleDown, this.options.tolerance),
      times: this.options,
      now: work.now,
      signal: work.signal,
    };
  }

  /** The greatest number of replicas that any of the metrics requests. */
  private async measure(autoscaler: StoredAutoscaler, request: ProposalRequest, draft: StatusDraft) {
    const specs = autoscaler.spec.metrics ?? [];
    const metrics: MetricStatus[] = [];
    const faults: MetricFault[] = [];
    let greatest: Proposal | undefined;
    for (const spec of specs) {
      const started = performance.now();
      let outcome: AutoscalerOutcome = { action: 'none', error: 'internal' };
      try {
        const proposal = await this.proposals.of(spec, request);
        outcome = { action: actionOf(request.currentReplicas, proposal.replicas), error: 'none' };
        metrics.push(proposal.status);
        if (greatest === undefined || proposal.replicas > greatest.replicas) greatest = proposal;
      } catch (error) {
        request.signal.throwIfAborted();
        if (!(error instanceof MetricFault)) throw error;
        this.events.warning(autoscaler, error.reason, error.message);
        faults.push(error);
      } finally {
        this.counters?.computed(outcome, spec.type, (performance.now() - started) / 1000);
      }
    }
    const [first] = faults;
    const text = `invalid metrics (${faults.length} invalid out of ${specs.length}), first error is: ${first?.whole}`;
    // Unknown metrics might request more.
    if (greatest === undefined || (first !== undefined && greatest.replicas < request.currentReplicas)) {
      if (first !== undefined) {
        const message = `the HPA was unable to compute the replica count: ${first.message}`;
        draft.setCondition('ScalingActive', 'False', first.reason, message);
      }
      this.events.warning(autoscaler, 'FailedComputeMetricsReplicas', text);
      throw new Undecided(text, metrics);
    }
    const message = `the HPA was able to successfully calculate a replica count from ${greatest.name}`;
    draft.setCondition('ScalingActive', 'True', 'ValidMetricFound', message);
    return { proposal: greatest, metrics };
  }

  private async rescale(
    autoscaler: StoredAutoscaler,
    { client, scale }: ScaleTarget,
    replicas: number,
    reason: string,
    draft: StatusDraft,
    work: ReconcileContext,
  ): Promise<void> {
    try {
      const isWritten = await client.updateView(work, scale, 'scale', (live) =>
        // Somebody else has just set the same number.
        (live as typeof scale).spec.replicas === scale.spec.replicas
          ? { ...live, spec: { ...(live as typeof scale).spec, replicas } }
          : undefined,
      );
      if (!isWritten) throw new Error('the object has been modified; please apply your changes to the latest version');
    } catch (error) {
      const text = errorMessage(error);
      this.events.warning(autoscaler, 'FailedRescale', `New size: ${replicas}; reason: ${reason}; error: ${text}`);
      const message = `the HPA controller was unable to update the target scale: ${text}`;
      draft.setCondition('AbleToScale', 'False', 'FailedUpdateScale', message);
      throw new Undecided(text);
    }
    const message = `the HPA controller was able to update the target scale to ${replicas}`;
    draft.setCondition('AbleToScale', 'True', 'SucceededRescale', message);
    this.events.normal(autoscaler, 'SuccessfulRescale', `New size: ${replicas}; reason: ${reason}`);
  }
}

function actionOf(current: number, wanted: number): AutoscalerOutcome['action'] {
  if (wanted === current) return 'none';
  return wanted > current ? 'scale_up' : 'scale_down';
}
