import type { ApiObject } from '../../machinery/api-object.js';
import { protectionFinalizers } from '../../machinery/protection-finalizers.js';
import { Reflector } from '../../registry/informers/reflector.js';
import { ProtectionLoop, type ProtectionOptions } from '../protection/protection-loop.js';
import { ClaimUsers, claimsOf } from './claim-users.js';

/** Lets deleted claims go once no pod that still runs uses them (specification 5.5). */
export class PvcProtectionController extends ProtectionLoop {
  readonly name = 'pvc-protection-controller';
  private readonly claims = new ClaimUsers();
  private pods: Reflector | undefined;

  /** @throws Error when the registry has no claims. */
  constructor(options: ProtectionOptions) {
    super(options, 'persistentvolumeclaims', protectionFinalizers(options.names).claim);
  }

  protected users() {
    const { storage, registry } = this.options;
    this.claims.clear();
    const sink = {
      replace: (pods: readonly ApiObject[]) => {
        this.claims.clear();
        for (const pod of pods) this.claims.set(keyOf(pod), claimsOf(pod));
        this.lookAtAll();
      },
      set: (pod: ApiObject) => {
        for (const freed of this.claims.set(keyOf(pod), claimsOf(pod))) this.lookAt(freed);
      },
      delete: (namespace: string, name: string) => {
        for (const freed of this.claims.set(`${namespace}/${name}`, [])) this.lookAt(freed);
      },
    };
    this.pods = new Reflector(storage, registry, 'pods', sink, this.onLost);
    return [this.pods];
  }

  protected async isInUse(claim: ApiObject): Promise<boolean> {
    // A pod that began to use the claim before its deletion must have arrived here.
    await this.pods?.reached(await this.options.storage.head());
    return this.claims.count(keyOf(claim)) > 0;
  }
}

function keyOf({ metadata }: ApiObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}
