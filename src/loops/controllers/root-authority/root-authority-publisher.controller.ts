import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { ConfigMap } from '../../../objects/apis/core/v1/config-map.types.js';
import { EveryNamespaceLoop } from '../every-namespace-loop.js';
import type { ReconcileDependencies } from '../frame/reconcile-loop.js';
import type { RootAuthority } from './root-authority.js';

type StoredMap = ConfigMap & ApiObject;

export interface RootAuthorityPublisherDependencies extends ReconcileDependencies {
  readonly rootAuthority: RootAuthority;
}

const key = 'ca.crt';

/**
 * Keeps a ConfigMap in every active namespace from which pods learn which authorities to trust for the API
 * (specification 5.3). It holds nothing else; other content is removed.
 */
export class RootAuthorityPublisher extends EveryNamespaceLoop<StoredMap> {
  readonly name = 'root-ca-cert-publisher';
  private readonly rootAuthority: RootAuthority;

  /** @throws Error when the registry lacks config maps. */
  constructor(dependencies: RootAuthorityPublisherDependencies) {
    super(dependencies, 'configmaps', dependencies.names.rootAuthorityMap);
    this.rootAuthority = dependencies.rootAuthority;
  }

  protected override started(signal: AbortSignal): void {
    const stopListening = this.rootAuthority.onChange(() => this.lookAtAll());
    signal.addEventListener('abort', stopListening, { once: true });
  }

  protected content() {
    return { data: { [key]: this.rootAuthority.pem } };
  }

  protected override repair(live: StoredMap): StoredMap {
    const { data = {}, binaryData, immutable } = live;
    // Somebody made it immutable on purpose; its content can't be changed any more.
    if (immutable === true) return live;
    const isRight = Object.keys(data).length === 1 && data[key] === this.rootAuthority.pem && binaryData === undefined;
    if (isRight) return live;
    const { binaryData: _, ...kept } = live;
    return { ...kept, ...this.content() };
  }
}
