import type { ApiObject } from '../../../base/machinery/api-object.js';
import { protectionFinalizers } from '../../../base/machinery/protection-finalizers.js';
import type { PersistentVolume } from '../../../objects/apis/core/v1/persistent-volume.types.js';
import type { ReconcileDependencies } from '../frame/reconcile-loop.js';
import { ProtectionLoop } from '../protection/protection-loop.js';

/** Releases deleted volumes once they are not bound to a claim (specification 5.5). */
export class PvProtectionController extends ProtectionLoop<PersistentVolume & ApiObject> {
  readonly name = 'pv-protection-controller';

  constructor(dependencies: ReconcileDependencies) {
    super(dependencies, 'persistentvolumes', protectionFinalizers(dependencies.names).volume);
  }

  // The volume itself records whether it is bound.
  protected users() {
    return [];
  }

  protected isInUse({ status }: PersistentVolume): boolean {
    return status.phase === 'Bound';
  }
}
