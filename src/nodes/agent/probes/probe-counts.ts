import { runtimeLabels } from '../cri/labels.js';
import type { RuntimeContainer } from '../pods/runtime-pod.js';
import type { CheckResult } from './probe-action.js';
import type { ProbeKind } from './probe-state.js';

const resultNames = { success: 'successful', failure: 'failed', unknown: 'unknown' } as const;

/** Counts the checks of all probes, for `/metrics/probes`. */
export class ProbeCounts {
  /** By label values of the metric. */
  private readonly counts = new Map<string, { count: number; readonly uid: string }>();

  add({ labels }: Pick<RuntimeContainer, 'labels'>, kind: ProbeKind, { outcome }: Pick<CheckResult, 'outcome'>): void {
    const uid = labels[runtimeLabels.podUid] ?? '';
    const key =
      `container="${labels[runtimeLabels.containerName]}",namespace="${labels[runtimeLabels.podNamespace]}",` +
      `pod="${labels[runtimeLabels.podName]}",pod_uid="${uid}",probe_type="${kind}",result="${resultNames[outcome]}"`;
    const known = this.counts.get(key);
    if (known === undefined) this.counts.set(key, { count: 1, uid });
    else known.count += 1;
  }

  /** The last trace of a pod was removed. */
  forget(uid: string): void {
    for (const [key, entry] of this.counts) if (entry.uid === uid) this.counts.delete(key);
  }

  text(): string {
    return [
      '# HELP prober_probe_total Checks of containers by their results.',
      '# TYPE prober_probe_total counter',
      ...[...this.counts].map(([labels, { count }]) => `prober_probe_total{${labels}} ${count}`),
      '',
    ].join('\n');
  }
}
