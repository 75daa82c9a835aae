import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatTime } from '../../../base/machinery/clock.js';
import { protectionFinalizers } from '../../../base/machinery/protection-finalizers.js';
import type { PersistentVolumeClaim } from '../../../objects/apis/core/v1/persistent-volume-claim.types.js';
import type { StoredPod } from '../frame/indexes.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import { keyOf, ownKey, type ReconcileDependencies, type Source, source, splitKey } from '../frame/reconcile-loop.js';
import { ProtectionLoop } from '../protection/protection-loop.js';
import type { WorkOutcome } from '../work-queue.js';
import { claimsOf, namedClaimsOf } from './claims-in-use.js';

type StoredClaim = PersistentVolumeClaim & ApiObject;

/**
 * Releases deleted claims once no running pod uses them (specification 5.5), and reports in the conditions of bound
 * claims whether a pod names them.
 */
export class PvcProtectionController extends ProtectionLoop<StoredClaim> {
  readonly name = 'pvc-protection-controller';
  private readonly pods = this.informer<StoredPod>('', 'pods');
  private readonly podsByClaim = this.pods.index('claims in use', claimsOf);
  private readonly podsNaming = this.pods.index('claims named', namedClaimsOf);

  constructor(dependencies: ReconcileDependencies) {
    super(dependencies, 'persistentvolumeclaims', protectionFinalizers(dependencies.names).claim);
  }

  protected override sources(): readonly Source[] {
    const bound = (claim: StoredClaim | undefined) =>
      claim !== undefined && this.wantedUse(claim) !== undefined ? ownKey(claim, undefined) : [];
    const named = (pod: StoredPod | undefined, old: StoredPod | undefined) => [
      ...(pod === undefined ? [] : namedClaimsOf(pod)),
      ...(old === undefined ? [] : namedClaimsOf(old)),
    ];
    return [...super.sources(), source(this.objects, bound), source(this.pods, named)];
  }

  protected override async reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { namespace, name } = splitKey(key);
    const claim = this.objects.get(namespace, name);
    if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return super.reconcile(key, work);
    if (this.wantedUse(claim) === undefined) return 'done';
    await this.client<StoredClaim>('', 'persistentvolumeclaims').updateStatus(work, claim, (live) => {
      const use = this.wantedUse(live);
      if (use === undefined) return undefined;
      const others = (live.status.conditions ?? []).filter(({ type }) => type !== 'Unused');
      const lastTransitionTime = formatTime(this.dependencies.timers.now());
      live.status.conditions = [...others, { ...use, lastProbeTime: null, lastTransitionTime }];
      return live;
    });
    return 'done';
  }

  /** The condition `Unused` that a claim should have; undefined when it has it already. */
  private wantedUse({ metadata, status }: StoredClaim) {
    if (status.phase !== 'Bound' || metadata.deletionTimestamp !== undefined) return undefined;
    const isNamed = this.podsNaming.get(keyOf({ metadata })).size > 0;
    const known = status.conditions?.find(({ type }) => type === 'Unused');
    const use = isNamed ? named : unused;
    return known?.status === use.status ? undefined : use;
  }

  protected users() {
    return [source(this.pods, freedClaims)];
  }

  /** The informer must show every pod that began to use a claim before the claim was deleted. */
  protected override async usersKnown(): Promise<void> {
    await this.pods.reached(await this.dependencies.storage.head());
  }

  protected isInUse(claim: StoredClaim): boolean {
    return this.podsByClaim.get(keyOf(claim)).size > 0;
  }
}

const unused = {
  type: 'Unused',
  status: 'True',
  reason: 'NoPodsUsingPVC',
  message: 'No pods are currently referencing this PVC',
};
const named = {
  type: 'Unused',
  status: 'False',
  reason: 'PodUsingPVC',
  message: 'A pod is currently referencing this PVC',
};

/** Claims that the pod used before the change and no longer uses. */
function freedClaims(pod: StoredPod | undefined, old: StoredPod | undefined): readonly string[] {
  const before = old === undefined ? [] : claimsOf(old);
  if (before.length === 0 || pod === undefined) return before;
  const now = claimsOf(pod);
  return before.filter((claim) => !now.includes(claim));
}
