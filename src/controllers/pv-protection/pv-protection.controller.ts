import type { PersistentVolume } from '../../apis/core/v1/persistent-volume.types.js';
import type { ApiObject } from '../../machinery/api-object.js';
import { protectionFinalizers } from '../../machinery/protection-finalizers.js';
import { ProtectionLoop, type ProtectionOptions } from '../protection/protection-loop.js';

/** Lets deleted volumes go once they are not bound to a claim (specification 5.5). */
export class PvProtectionController extends ProtectionLoop {
  readonly name = 'pv-protection-controller';

  /** @throws Error when the registry has no volumes. */
  constructor(options: ProtectionOptions) {
    super(options, 'persistentvolumes', protectionFinalizers(options.names).volume);
  }

  // The volume itself says whether it is bound.
  protected users() {
    return [];
  }

  protected isInUse(volume: ApiObject): boolean {
    return (volume as ApiObject as PersistentVolume).status.phase === 'Bound';
  }
}
