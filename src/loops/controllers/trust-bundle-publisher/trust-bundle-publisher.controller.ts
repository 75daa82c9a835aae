import { createHash } from 'node:crypto';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { ClusterTrustBundle } from '../../../objects/apis/certificates/v1/cluster-trust-bundle.types.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import { type ReconcileDependencies, ReconcileLoop, type Source } from '../frame/reconcile-loop.js';
import type { RootAuthority } from '../root-authority/root-authority.js';
import type { WorkOutcome } from '../work-queue.js';

type StoredBundle = ClusterTrustBundle & ApiObject;

export interface TrustBundlePublisherDependencies extends ReconcileDependencies {
  readonly rootAuthority: RootAuthority;
}

/** The only key of this controller. */
const key = 'bundle';

/**
 * Publishes the authorities of the API's certificate as the trust bundle of their signer, for pods that mount it, and
 * removes former ones. The name of a bundle contains a digest of its content.
 */
export class TrustBundlePublisher extends ReconcileLoop {
  readonly name = 'kube-apiserver-serving-clustertrustbundle-publisher';
  private readonly rootAuthority: RootAuthority;
  private readonly bundles = this.informer<StoredBundle>('certificates', 'clustertrustbundles');
  private readonly signerName: string;

  constructor(dependencies: TrustBundlePublisherDependencies) {
    super(dependencies);
    this.rootAuthority = dependencies.rootAuthority;
    this.signerName = `${dependencies.names.labelPrefix}/kube-apiserver-serving`;
  }

  protected override get queueName(): string {
    return 'ca_cert_publisher_cluster_trust_bundles';
  }

  protected override started(signal: AbortSignal): void {
    const stopListening = this.rootAuthority.onChange(() => this.enqueue(key));
    signal.addEventListener('abort', stopListening, { once: true });
  }

  protected sources(): readonly Source[] {
    return [
      {
        informer: this.bundles,
        feed: async (add, signal) => {
          add(key);
          const changed = (bundle: StoredBundle | undefined, old: StoredBundle | undefined) => {
            if ((bundle ?? old)?.spec.signerName === this.signerName) add(key);
          };
          await this.bundles.subscribe({ changed }, signal);
        },
      },
    ];
  }

  protected reconcile(_key: string, work: ReconcileContext): Promise<WorkOutcome> {
    const publish = () => this.publish(work);
    return this.dependencies.loopMetrics?.trustBundle.measure(publish) ?? publish();
  }

  private async publish(work: ReconcileContext): Promise<WorkOutcome> {
    const { pem: trustBundle } = this.rootAuthority;
    const { signerName } = this;
    const hash = createHash('sha256').update(trustBundle).digest('hex').slice(0, 24);
    const name = `${signerName.replaceAll('/', ':')}:${hash}`;
    const client = this.client<StoredBundle>('certificates', 'clustertrustbundles');
    const known = this.bundles.get('', name);
    if (known === undefined)
      await client.create(work, { metadata: { name }, spec: { signerName, trustBundle } } as object);
    else if (known.spec.trustBundle !== trustBundle) {
      await client.update(work, known, (live) => ({ ...live, spec: { ...live.spec, trustBundle } }));
    }
    for (const bundle of [...this.bundles.all()]) {
      if (bundle.spec.signerName !== signerName || bundle.metadata.name === name) continue;
      await client.delete(work, bundle);
    }
    return 'done';
  }
}
