import type { ApiObject } from '../../base/machinery/api-object.js';
import type { CertificateSigningRequest } from '../../objects/apis/certificates/v1/certificate-signing-request.types.js';
import type { ResourceClient } from './frame/loop-client.js';
import type { ReconcileContext } from './frame/reconcile-context.js';
import { type Pauses, type ReconcileDependencies, ReconcileLoop, type Source, source } from './frame/reconcile-loop.js';
import type { WorkOutcome } from './work-queue.js';

/** A CertificateSigningRequest as the informers and clients of controllers return it. */
export type StoredRequest = CertificateSigningRequest & ApiObject;

/** Follows all certificate signing requests and works on those that `concerns` selects, each in its newest state. */
export abstract class CertificateRequestLoop extends ReconcileLoop {
  // Long pauses: a failure, such as a missing right or an expired authority, affects every process alike.
  protected override readonly pauses: Pauses = { firstMs: 500, longestMs: 60_000 };
  private readonly informed = this.informer<StoredRequest>('certificates', 'certificatesigningrequests');
  protected readonly requests: ResourceClient<StoredRequest>;

  /** @throws Error when the registry has no certificate signing requests. */
  constructor(dependencies: ReconcileDependencies) {
    super(dependencies);
    this.requests = this.client<StoredRequest>('certificates', 'certificatesigningrequests');
  }

  protected override get account(): string {
    return 'certificate-controller';
  }

  /** Whether this controller has work to do on a request, now or later. */
  protected abstract concerns(request: StoredRequest): boolean;

  /** Does the work on a request that concerns this controller. */
  protected abstract process(request: StoredRequest, work: ReconcileContext): Promise<WorkOutcome>;

  protected sources(): readonly Source[] {
    return [
      source(this.informed, (request) =>
        request !== undefined && this.concerns(request) ? [request.metadata.name ?? ''] : [],
      ),
    ];
  }

  protected async reconcile(name: string, work: ReconcileContext): Promise<WorkOutcome> {
    const request = await this.requests.get('', name);
    return request !== undefined && this.concerns(request) ? this.process(request, work) : 'done';
  }

  /**
   * Changes the status of a request through one of its subresources, if the request is still the same and still
   * concerns this controller. Returns whether it did.
   */
  protected async changeStatus(
    path: 'approval' | 'status',
    seen: StoredRequest,
    work: ReconcileContext,
    change: (status: StoredRequest['status']) => StoredRequest['status'],
  ): Promise<boolean> {
    const next = (live: StoredRequest) => (this.concerns(live) ? { ...live, status: change(live.status) } : undefined);
    return (await this.requests.update(work, seen, next, path)) !== undefined;
  }
}

/** Whether a request has a condition with status true. */
export function hasTrueCondition(
  { status }: CertificateSigningRequest,
  type: 'Approved' | 'Denied' | 'Failed',
): boolean {
  return (status.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True');
}
