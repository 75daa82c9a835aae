import type { DrawnPod } from './draw-pod.js';
import { type SchedulerScene, schedulers } from './scene.js';

export const isRefusal = (outcome: string): boolean => outcome.includes(': ');

/** Both are tried up to three times: among equally good nodes, each chooses at random. */
const asks = ['upstream', 'ours', 'upstream', 'ours', 'upstream', 'ours'] as const;

/** Counts in how many cases both schedulers do the same. */
export class Comparison {
  same = 0;
  sameRefusals = 0;
  readonly different: string[] = [];

  constructor(
    private readonly scene: SchedulerScene,
    /** Tries the pod with a scheduler, leaves the cluster as it was, and returns what happened. */
    private readonly outcome: (schedulerName: string, pod: DrawnPod) => Promise<string>,
  ) {}

  async compare(pod: DrawnPod): Promise<void> {
    const outcomes = { ours: new Set<string>(), upstream: new Set<string>() };
    const isSame = () => [...outcomes.ours].some((one) => outcomes.upstream.has(one));
    for (const who of asks) {
      const outcome = await this.outcome(schedulers[who], pod);
      outcomes[who].add(outcome);
      if (isSame() || (outcomes.ours.size > 0 && isRefusal(outcome))) break;
    }
    if (isSame()) {
      this.same += 1;
      if (isRefusal([...outcomes.ours][0] ?? '')) this.sameRefusals += 1;
      return;
    }
    const lines = [
      `ours:     ${[...outcomes.ours].join(' | ')}`,
      `upstream: ${[...outcomes.upstream].join(' | ')}`,
      `pod: ${JSON.stringify(pod)}`,
      ...(await this.scene.description()),
    ];
    this.different.push(lines.join('\n  '));
  }
}
