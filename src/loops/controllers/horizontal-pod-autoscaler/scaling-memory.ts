import type { HorizontalPodAutoscalerSpec } from '../../../objects/apis/autoscaling/v2/horizontal-pod-autoscaler.types.js';
import type { Dated, ScalingHistory } from './scaling-rules.js';

const longestKept = 1000;

/** The recommendations and changes of one autoscaler, for as long as its rules look back. */
export class ScalingMemory implements ScalingHistory {
  recommendations: Dated[] = [];
  ups: Dated[] = [];
  downs: Dated[] = [];

  /** Records the number that the metrics request. */
  recommend(replicas: number, now: number): void {
    this.recommendations.push({ at: now, replicas });
  }

  /** Records a change of the replicas. */
  rescaled(from: number, to: number, now: number): void {
    if (to > from) this.ups.push({ at: now, replicas: to - from });
    else this.downs.push({ at: now, replicas: from - to });
  }

  /** Forgets entries that no rule uses any more. */
  forget({ behavior }: HorizontalPodAutoscalerSpec, downscaleMs: number, now: number): void {
    const { scaleUp, scaleDown } = behavior ?? {};
    const windowMs = Math.max(
      (scaleUp?.stabilizationWindowSeconds ?? 0) * 1000,
      scaleDown?.stabilizationWindowSeconds === undefined ? downscaleMs : scaleDown.stabilizationWindowSeconds * 1000,
    );
    const periodMs = Math.max(
      0,
      ...[...(scaleUp?.policies ?? []), ...(scaleDown?.policies ?? [])].map(
        ({ periodSeconds }) => periodSeconds * 1000,
      ),
    );
    const since = (list: readonly Dated[], ms: number) => list.filter(({ at }) => at > now - ms).slice(-longestKept);
    this.recommendations = since(this.recommendations, windowMs);
    this.ups = since(this.ups, periodMs);
    this.downs = since(this.downs, periodMs);
  }
}
