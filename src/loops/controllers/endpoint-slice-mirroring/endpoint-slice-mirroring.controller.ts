import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Endpoints } from '../../../objects/apis/core/v1/endpoints.types.js';
import type { Service } from '../../../objects/apis/core/v1/service.types.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import {
  isRace,
  ownKey,
  type ReconcileDependencies,
  ReconcileLoop,
  type Source,
  source,
  splitKey,
} from '../frame/reconcile-loop.js';
import { errorMessage, isNamespaceTerminating } from '../frame/refusals.js';
import { type EndpointNames, endpointNames } from '../services/endpoint-names.js';
import { packSlices, type StoredSlice } from '../services/pack-slices.js';
import { type SliceMetadata, withMetadata, writeSlices } from '../services/slice-writer.js';
import { ownedSlices, sliceKeys } from '../services/slices-of-service.js';
import type { WorkOutcome } from '../work-queue.js';
import { type Mirrored, mirroredEndpoints } from './mirrored-endpoints.js';

type StoredEndpoints = Endpoints & ApiObject;

const mostEndpoints = 100;
const mostPerSubset = 1_000;

/**
 * Copies Endpoints that others write for services without a selector into EndpointSlices, which is where clients look.
 * Not copied are Endpoints with the label `skip-mirror`, and those that a leader election uses as its lock.
 */
export class EndpointSliceMirroringController extends ReconcileLoop {
  readonly name = 'endpointslicemirroring-controller';
  private readonly endpoints = this.informer<StoredEndpoints>('', 'endpoints');
  private readonly services = this.informer<Service & ApiObject>('', 'services');
  private readonly slices = this.informer<StoredSlice>('discovery', 'endpointslices');
  private readonly labels: EndpointNames;
  private readonly slicesOf: (namespace: string, service: string) => StoredSlice[];

  constructor(dependencies: ReconcileDependencies) {
    super(dependencies);
    this.labels = endpointNames(dependencies.names);
    this.slicesOf = ownedSlices(this.slices, this.labels, this.labels.mirroringLoop);
  }

  protected sources(): readonly Source[] {
    return [
      source(this.endpoints, ownKey),
      source(this.services, ownKey),
      source(this.slices, sliceKeys(this.labels, this.labels.mirroringLoop)),
    ];
  }

  protected async reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { namespace, name } = splitKey(key);
    const endpoints = this.endpoints.get(namespace, name);
    const existing = this.slicesOf(namespace, name);
    const client = this.client<StoredSlice>('discovery', 'endpointslices');
    if (endpoints === undefined || !this.isMirrored(endpoints)) {
      for (const slice of existing) await client.delete(work, slice);
      return 'done';
    }
    const mirrored = mirroredEndpoints(endpoints.subsets ?? [], mostPerSubset);
    const sliceMetadata = this.sliceMetadata(endpoints);
    const plan = withMetadata(packSlices(existing, mirrored.groups, mostEndpoints), existing, sliceMetadata);
    if (plan.create.length + plan.update.length + plan.delete.length === 0) return 'done';
    this.warn(endpoints, mirrored);
    try {
      await writeSlices(client, work, plan, sliceMetadata);
    } catch (error) {
      if (isNamespaceTerminating(error)) return 'done';
      if (!isRace(error)) {
        const text = `Failed to update EndpointSlices for Endpoints ${key}: ${errorMessage(error)}`;
        this.events.warning(endpoints, 'FailedToUpdateEndpointSlices', text);
      }
      throw error;
    }
    return 'done';
  }

  private isMirrored({ metadata }: StoredEndpoints): boolean {
    const { skipMirror, leader } = this.labels;
    if (metadata.labels?.[skipMirror] === 'true' || metadata.annotations?.[leader] !== undefined) return false;
    const service = this.services.get(metadata.namespace ?? '', metadata.name ?? '');
    return service !== undefined && Object.keys(service.spec.selector ?? {}).length === 0;
  }

  private warn(endpoints: StoredEndpoints, { invalid, tooMany }: Mirrored): void {
    if (invalid > 0) {
      const text = `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`;
      this.events.warning(endpoints, 'InvalidIPAddress', text);
    }
    if (tooMany > 0) {
      const text =
        `A max of ${mostPerSubset} addresses can be mirrored to EndpointSlices per Endpoints subset. ` +
        `${tooMany} addresses were skipped`;
      this.events.warning(endpoints, 'TooManyAddressesToMirror', text);
    }
  }

  private sliceMetadata({ metadata }: StoredEndpoints): SliceMetadata {
    const { serviceName, sliceManagedBy, mirroringLoop, skipMirror, triggerTime } = this.labels;
    const { namespace = '', name = '', uid = '', deletionTimestamp } = metadata;
    const { [skipMirror]: _skip, ...labels } = metadata.labels ?? {};
    const {
      [triggerTime]: _time,
      [this.dependencies.names.lastAppliedAnnotation]: _applied,
      ...annotations
    } = metadata.annotations ?? {};
    labels[serviceName] = name;
    labels[sliceManagedBy] = mirroringLoop;
    return {
      namespace,
      prefix: name,
      owner: { apiVersion: 'v1', kind: 'Endpoints', name, uid, controller: true, blockOwnerDeletion: true },
      labels,
      annotations,
      trigger: { annotation: triggerTime, time: undefined },
      isEnding: deletionTimestamp !== undefined,
    };
  }
}
