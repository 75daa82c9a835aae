import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatTime } from '../../../base/machinery/clock.js';
import { cloneJson } from '../../../base/machinery/json/exact-numbers.js';
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerCondition,
  HorizontalPodAutoscalerStatus,
} from '../../../objects/apis/autoscaling/v2/horizontal-pod-autoscaler.types.js';
import type { MetricStatus } from '../../../objects/apis/autoscaling/v2/metric.types.js';

export type StoredAutoscaler = HorizontalPodAutoscaler & ApiObject;

/** The status of an autoscaler while it is being computed. */
export class StatusDraft {
  readonly status: HorizontalPodAutoscalerStatus;

  private readonly generation: number;

  constructor(
    object: StoredAutoscaler,
    private readonly now: number,
  ) {
    this.generation = object.metadata.generation ?? 0;
    this.status = cloneJson(object.status) as HorizontalPodAutoscalerStatus;
  }

  setCondition(
    type: HorizontalPodAutoscalerCondition['type'],
    status: HorizontalPodAutoscalerCondition['status'],
    reason: string,
    message: string,
  ): void {
    const conditions = [...(this.status.conditions ?? [])];
    const at = conditions.findIndex((condition) => condition.type === type);
    const old = conditions[at];
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : formatTime(this.now);
    const next = { type, status, lastTransitionTime, reason, message };
    if (old === undefined) conditions.push(next);
    else conditions[at] = next;
    this.status.conditions = conditions;
  }

  /**
   * Records the replicas and the metrics of the target, with the generation of the specification that they belong to.
   */
  setReplicas(current: number, metrics: readonly MetricStatus[]): void {
    this.status.observedGeneration = this.generation;
    if (current > 0) this.status.currentReplicas = current;
    else delete this.status.currentReplicas;
    this.status.currentMetrics = metrics.length === 0 ? null : [...metrics];
  }

  setDesired(desired: number, isRescaled: boolean): void {
    this.status.desiredReplicas = desired;
    if (isRescaled) this.status.lastScaleTime = formatTime(this.now);
  }
}
