import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../../../base/machinery/clock.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import { readStored } from '../../../../objects/registry/store/object-codec.js';
import type { ResourceStores } from '../../../../objects/registry/store/resource-stores.js';
import { toStatusError } from '../../../../objects/registry/store/to-status-error.js';
import { formatLevelVersion, type LevelVersion } from './policy-version.js';
import { type PodEvaluator, reasonsText } from './standards/pod-evaluator.js';
import { checkedPod } from './standards/standard.js';

const pods = { group: '', resource: 'pods' };
const pageSize = 200;

/** Limits for the review that follows a change of a namespace. */
export interface ReviewLimits {
  readonly pods: number;
  readonly ms: number;
}

const defaultLimits: ReviewLimits = { pods: 3000, ms: 1000 };

/** Finds the pods of a namespace that a new policy would not admit. */
export class NamespacePodReview {
  constructor(
    private readonly stores: Pick<ResourceStores, 'storage' | 'registry'>,
    private readonly evaluator: PodEvaluator,
    private readonly isExempt: (pod: Pod) => boolean,
    private readonly clock: Clock,
    private readonly limits: ReviewLimits = defaultLimits,
  ) {}

  /**
   * Warnings about the pods that violate the rules of the new policy, and about unchecked pods: a namespace may have
   * more pods than can be checked in time. The check yields to other work between pods.
   */
  async warnings(namespace: string, enforced: LevelVersion): Promise<readonly string[]> {
    const deadline = this.clock.now() + this.limits.ms;
    const byReasons = new Map<string, string[]>();
    let looked = 0;
    let after: { readonly namespace: string; readonly name: string } | undefined;
    let at: bigint | undefined;
    let left = 0;
    do {
      const limit = Math.min(pageSize, this.limits.pods - looked);
      const page = await this.page({ namespace, limit, after, at, countRemaining: looked + limit >= this.limits.pods });
      for (const stored of page.items) {
        await setImmediate();
        if (this.clock.now() > deadline) break;
        const pod = (await readStored(this.stores.registry, stored)) as unknown as Pod;
        looked++;
        this.note(pod, enforced, byReasons);
      }
      after = page.items.at(-1)?.key;
      at = page.resourceVersion;
      left = page.more ? (page.remaining ?? 1) : 0;
      if (!page.more) break;
    } while (looked < this.limits.pods && this.clock.now() <= deadline);
    return this.texts(namespace, enforced, byReasons, looked, left, this.clock.now() > deadline);
  }

  private async page(query: Omit<Parameters<ResourceStores['storage']['list']>[0], 'resource'>) {
    try {
      return await this.stores.storage.list({ resource: 'pods', notOlderThan: 0n, ...query });
    } catch (error) {
      throw toStatusError(error, pods, '');
    }
  }

  private note(pod: Pod, enforced: LevelVersion, byReasons: Map<string, string[]>): void {
    if (this.isExempt(pod)) return;
    const violations = this.evaluator.evaluate(enforced, checkedPod(pod.metadata.annotations, pod.spec));
    if (violations.length === 0) return;
    const reasons = reasonsText(violations);
    const names = byReasons.get(reasons);
    const name = pod.metadata.name ?? '';
    if (names === undefined) byReasons.set(reasons, [name]);
    else names.push(name);
  }

  private texts(
    namespace: string,
    enforced: LevelVersion,
    byReasons: ReadonlyMap<string, readonly string[]>,
    looked: number,
    left: number,
    isLate: boolean,
  ): string[] {
    const texts: string[] = [];
    if (isLate) texts.push(`new PodSecurity enforce level only checked against the first ${looked} existing pods`);
    else if (left > 0) {
      const total = looked + left;
      texts.push(`new PodSecurity enforce level only checked against the first ${looked} of ${total} existing pods`);
    }
    if (byReasons.size === 0) return texts;
    const policy = JSON.stringify(formatLevelVersion(enforced));
    texts.push(
      `existing pods in namespace ${JSON.stringify(namespace)} violate the new PodSecurity enforce level ${policy}`,
    );
    const groups = [...byReasons].map(([reasons, names]) => `${namesText(names)}: ${reasons}`);
    return [...texts, ...groups.sort()];
  }
}

/** `a`, `a (and 1 other pod)`, `a (and 2 other pods)`. */
function namesText([first = '', ...others]: readonly string[]): string {
  if (others.length === 0) return first;
  return `${first} (and ${others.length} other ${others.length === 1 ? 'pod' : 'pods'})`;
}
