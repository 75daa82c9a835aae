import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { PodCertificateRequest } from '../../../objects/apis/certificates/v1/pod-certificate-request.types.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import { ownKey, ReconcileLoop, type Source, source, splitKey } from '../frame/reconcile-loop.js';
import type { WorkOutcome } from '../work-queue.js';

type StoredRequest = PodCertificateRequest & ApiObject;

/** How long a request is kept, in milliseconds: by then, the requester has the certificate or has asked again. */
const lifeMs = 900_000;

/** Removes requests for certificates of pods a quarter of an hour after they were made. */
export class PodCertificateCleaner extends ReconcileLoop {
  readonly name = 'podcertificaterequestcleaner';
  private readonly requests = this.informer<StoredRequest>('certificates', 'podcertificaterequests');

  protected sources(): readonly Source[] {
    return [source(this.requests, ownKey)];
  }

  protected async reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { namespace, name } = splitKey(key);
    const request = this.requests.get(namespace, name);
    if (request === undefined) return 'done';
    const dueIn = Date.parse(request.metadata.creationTimestamp ?? '') + lifeMs - this.dependencies.timers.now();
    if (dueIn > 0) return dueIn;
    await this.client<StoredRequest>('certificates', 'podcertificaterequests').delete(work, request);
    return 'done';
  }
}
