import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { ConfigMap } from '../../../objects/apis/core/v1/config-map.types.js';
import { EveryNamespaceLoop } from '../every-namespace-loop.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import type { ReconcileDependencies } from '../frame/reconcile-loop.js';
import type { WorkOutcome } from '../work-queue.js';
import type { RootAuthority } from './root-authority.js';

type StoredMap = ConfigMap & ApiObject;

export interface RootAuthorityPublisherDependencies extends ReconcileDependencies {
  readonly rootAuthority: RootAuthority;
}

const key = 'ca.crt';
const description =
  "Certificates of the authorities that sign the API server's certificate, for connections to its service. " +
  'Other certificates of the cluster may be signed by others.';

/**
 * Keeps a ConfigMap in every active namespace from which pods learn which authorities to trust for the API
 * (specification 5.3). It holds nothing else; other content is removed. An annotation says what it is for; another text
 * in it stays.
 */
export class RootAuthorityPublisher extends EveryNamespaceLoop<StoredMap> {
  readonly name = 'root-ca-cert-publisher';
  private readonly rootAuthority: RootAuthority;
  private readonly descriptionKey: string;

  /** @throws Error when the registry lacks config maps. */
  constructor(dependencies: RootAuthorityPublisherDependencies) {
    super(dependencies, 'configmaps', dependencies.names.rootAuthorityMap);
    this.rootAuthority = dependencies.rootAuthority;
    this.descriptionKey = `${dependencies.names.labelPrefix}/description`;
  }

  protected override started(signal: AbortSignal): void {
    const stopListening = this.rootAuthority.onChange(() => this.lookAtAll());
    signal.addEventListener('abort', stopListening, { once: true });
  }

  protected override reconcile(namespace: string, work: ReconcileContext): Promise<WorkOutcome> {
    const check = () => super.reconcile(namespace, work);
    return this.dependencies.loopMetrics?.rootAuthority.measure(check) ?? check();
  }

  protected content() {
    return { data: { [key]: this.rootAuthority.pem } };
  }

  protected override annotations(): Readonly<Record<string, string>> {
    return { [this.descriptionKey]: description };
  }

  protected override repair(live: StoredMap): StoredMap {
    const { data = {}, binaryData, immutable, metadata } = live;
    // Somebody made it immutable on purpose; its content can't be changed any more.
    if (immutable === true) return live;
    const isDescribed = (metadata.annotations?.[this.descriptionKey] ?? '') !== '';
    const isRight = Object.keys(data).length === 1 && data[key] === this.rootAuthority.pem && binaryData === undefined;
    if (isRight && isDescribed) return live;
    const { binaryData: _, ...kept } = live;
    const annotations = isDescribed ? metadata.annotations : { ...metadata.annotations, ...this.annotations() };
    return { ...kept, metadata: { ...metadata, annotations }, ...this.content() };
  }
}
