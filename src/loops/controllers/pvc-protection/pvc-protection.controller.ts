import type { ApiObject } from '../../../base/machinery/api-object.js';
import { protectionFinalizers } from '../../../base/machinery/protection-finalizers.js';
import type { PersistentVolumeClaim } from '../../../objects/apis/core/v1/persistent-volume-claim.types.js';
import type { StoredPod } from '../frame/indexes.js';
import { keyOf, type ReconcileDependencies, source } from '../frame/reconcile-loop.js';
import { ProtectionLoop } from '../protection/protection-loop.js';
import { claimsOf } from './claims-in-use.js';

type StoredClaim = PersistentVolumeClaim & ApiObject;

/** Releases deleted claims once no running pod uses them (specification 5.5). */
export class PvcProtectionController extends ProtectionLoop<StoredClaim> {
  readonly name = 'pvc-protection-controller';
  private readonly pods = this.informer<StoredPod>('', 'pods');
  private readonly podsByClaim = this.pods.index('claims in use', claimsOf);

  constructor(dependencies: ReconcileDependencies) {
    super(dependencies, 'persistentvolumeclaims', protectionFinalizers(dependencies.names).claim);
  }

  protected users() {
    return [source(this.pods, freedClaims)];
  }

  /** A pod that began to use a claim before its deletion must have arrived here. */
  protected override async usersKnown(): Promise<void> {
    await this.pods.reached(await this.dependencies.storage.head());
  }

  protected isInUse(claim: StoredClaim): boolean {
    return this.podsByClaim.get(keyOf(claim)).size > 0;
  }
}

/** Claims that a pod held and no longer does. */
function freedClaims(pod: StoredPod | undefined, old: StoredPod | undefined): readonly string[] {
  const before = old === undefined ? [] : claimsOf(old);
  if (before.length === 0 || pod === undefined) return before;
  const now = claimsOf(pod);
  return before.filter((claim) => !now.includes(claim));
}
