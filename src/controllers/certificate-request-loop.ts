import type { CertificateSigningRequest } from '../apis/certificates/v1/certificate-signing-request.types.js';
import type { ApiObject } from '../machinery/api-object.js';
import { cloneJson } from '../machinery/json/exact-numbers.js';
import { StatusError } from '../machinery/status-error.js';
import { groupName, type VendorNames } from '../machinery/vendor.js';
import type { Logger } from '../observability/logger.js';
import { Lister } from '../registry/informers/lister.js';
import { partOf } from '../registry/resource-definition.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import type { AdmittedStore, WriteAdmission } from '../registry/store/admitted-store.js';
import { parseStored } from '../registry/store/object-codec.js';
import type { Storage } from '../storage/storage.interface.js';
import type { ControlLoop } from './control-loop.js';
import { runWithInformers } from './run-with-informers.js';
import type { Timers } from './timers.js';
import { accountContext } from './work-context.js';
import { type WorkOutcome, WorkQueue } from './work-queue.js';
import { workStore } from './work-store.js';

/** Dependencies of every loop over certificate signing requests. */
export interface CertificateRequestLoopOptions {
  readonly storage: Storage;
  readonly admission?: WriteAdmission | undefined;
  readonly registry: ResourceRegistry;
  readonly names: VendorNames;
  readonly logger: Logger;
  readonly timers: Timers;
  /** First and longest pause before failed work is retried. Default 500 ms and 1 minute. */
  readonly firstPauseMs?: number | undefined;
  readonly longestPauseMs?: number | undefined;
}

/** The request was changed, decided or removed meanwhile, so the intended change no longer applies. */
class Superseded extends Error {}

const workers = 4;

/** Follows all certificate signing requests and works on those that `concerns` selects, each in its newest state. */
export abstract class CertificateRequestLoop implements ControlLoop {
  abstract readonly name: string;
  protected readonly store: AdmittedStore;

  /** @throws Error when the registry has no certificate signing requests. */
  constructor(protected readonly options: CertificateRequestLoopOptions) {
    const { registry, names } = options;
    const served = registry.findStoredResource(groupName('certificates', names), 'v1', 'certificatesigningrequests');
    if (served === undefined) throw new Error('the resource certificatesigningrequests is not registered');
    this.store = workStore(served, options);
  }

  /** Whether the loop has work on a request, now or later. */
  protected abstract concerns(request: CertificateSigningRequest): boolean;

  /** Does the work on a request that concerns this loop. */
  protected abstract work(request: CertificateSigningRequest, signal: AbortSignal): Promise<WorkOutcome>;

  async run(signal: AbortSignal): Promise<void> {
    const { storage, registry, logger, timers } = this.options;
    const { storageResource } = this.store.resource;
    const queue = new WorkQueue({
      work: (name, ended) => this.process(name, ended),
      onFault: (request, error) =>
        logger.warn('work on a certificate request failed', { loop: this.name, request, error }),
      workers,
      firstPauseMs: this.options.firstPauseMs ?? 500,
      longestPauseMs: this.options.longestPauseMs ?? 60_000,
      timers,
    });
    const notice = (object: ApiObject): undefined => {
      if (this.concerns(object as CertificateSigningRequest)) queue.add(object.metadata.name ?? '');
    };
    const lister = new Lister(storage, registry, storageResource, notice, (error) =>
      logger.warn('a control loop lost its place in the change log', { loop: this.name, error }),
    );
    await runWithInformers(queue, [lister], signal);
  }

  private async process(name: string, signal: AbortSignal): Promise<WorkOutcome> {
    const { storageResource } = this.store.resource;
    const stored = await this.options.storage.get({ resource: storageResource, namespace: '', name });
    if (stored === undefined) return 'done';
    const request = parseStored(this.store.resource, stored) as CertificateSigningRequest;
    if (!this.concerns(request)) return 'done';
    try {
      return await this.work(request, signal);
    } catch (error) {
      // Its newest state arrives as a change of its own.
      if (error instanceof Superseded || (error instanceof StatusError && error.reason === 'NotFound')) return 'done';
      throw error;
    }
  }

  /**
   * Changes the status of a request through one of its subresources, if the request is still the same and still
   * concerns this loop.
   */
  protected async updateStatus(
    path: 'approval' | 'status',
    seen: CertificateSigningRequest,
    signal: AbortSignal,
    change: (status: CertificateSigningRequest['status']) => CertificateSigningRequest['status'],
  ): Promise<void> {
    await this.store.update(this.context(signal), '', seen.metadata.name ?? '', {
      subresource: partOf(this.store.resource.definition, path),
      transform: (live) => {
        const request = live as CertificateSigningRequest | undefined;
        const isSeen = request !== undefined && request.metadata.uid === seen.metadata.uid;
        if (!isSeen || !this.concerns(request)) throw new Superseded();
        const copy = cloneJson(request);
        return { ...copy, status: change(copy.status) } as ApiObject;
      },
    });
  }

  /** Removes the request unless it has changed since it was read. */
  protected async remove({ metadata }: CertificateSigningRequest, signal: AbortSignal): Promise<void> {
    const { name = '', uid, resourceVersion } = metadata;
    try {
      await this.store.delete(this.context(signal), '', name, { preconditions: { uid, resourceVersion } });
    } catch (error) {
      if (error instanceof StatusError && error.reason === 'Conflict') throw new Superseded();
      throw error;
    }
  }

  private context(signal: AbortSignal) {
    return accountContext('certificate-controller', this.options.names, this.options.timers.now(), signal);
  }
}

/** Whether a request has a condition with status true. */
export function hasTrueCondition(
  { status }: CertificateSigningRequest,
  type: 'Approved' | 'Denied' | 'Failed',
): boolean {
  return (status.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True');
}
