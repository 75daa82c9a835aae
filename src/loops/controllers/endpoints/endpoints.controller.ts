import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatTime } from '../../../base/machinery/clock.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import type { EndpointSubset, Endpoints } from '../../../objects/apis/core/v1/endpoints.types.js';
import type { StoredPod } from '../frame/indexes.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import { keyOf, type Source, source } from '../frame/reconcile-loop.js';
import { ServiceLoop } from '../services/service-loop.js';
import { isHeadless, type StoredService } from '../services/service-pods.js';
import type { WorkOutcome } from '../work-queue.js';
import { truncated, wantedSubsets } from './wanted-subsets.js';

type StoredEndpoints = Endpoints & ApiObject;
type StringMap = Record<string, string>;

const mostAddresses = 1_000;

/** The desired Endpoints of a service. */
interface Wanted {
  readonly subsets: readonly EndpointSubset[];
  readonly isTruncated: boolean;
  readonly labels: StringMap;
}

/**
 * Keeps Endpoints of the same name for each service with a selector: the addresses and ports of its pods. Endpoints of
 * services without a selector belong to others, and so do those that a leader election uses as its lock.
 */
export class EndpointsController extends ServiceLoop {
  readonly name = 'endpoint-controller';
  private readonly endpoints = this.informer<StoredEndpoints>('', 'endpoints');

  protected otherSources(): readonly Source[] {
    const { managedBy } = this.labels;
    // Somebody may change the controller's objects, and a service may be deleted while no controller runs.
    const keysOf = (object: StoredEndpoints | undefined, old: StoredEndpoints | undefined) =>
      [object, old].flatMap((one) => (one?.metadata.labels?.[managedBy] === this.name ? [keyOf(one)] : []));
    return [source(this.endpoints, keysOf)];
  }

  protected async publish(
    service: StoredService,
    pods: readonly StoredPod[],
    work: ReconcileContext,
  ): Promise<WorkOutcome> {
    const { namespace = '', name = '' } = service.metadata;
    const changedAt = this.times.next(keyOf(service), service, pods);
    const wanted = this.wanted(service, pods);
    const current = this.endpoints.get(namespace, name);
    const client = this.client<StoredEndpoints>('', 'endpoints');
    const change = (live: StoredEndpoints) => this.changed(live, wanted, changedAt);
    if (current === undefined) {
      try {
        const made = this.changed({ metadata: { name, namespace } } as StoredEndpoints, wanted, changedAt);
        if (made !== undefined) await client.create(work, made);
      } catch (error) {
        return this.failed(
          error,
          service,
          'FailedToCreateEndpoint',
          `Failed to create endpoint for service ${keyOf(service)}`,
        );
      }
      return 'done';
    }
    if (change(current) === undefined) return 'done';
    try {
      await client.update(work, current, change);
    } catch (error) {
      return this.failed(error, current, 'FailedToUpdateEndpoint', `Failed to update endpoint ${keyOf(service)}`);
    }
    return 'done';
  }

  protected async clear(namespace: string, name: string, work: ReconcileContext): Promise<void> {
    const current = this.endpoints.get(namespace, name);
    if (current === undefined || current.metadata.annotations?.[this.labels.leader] !== undefined) return;
    await this.client<StoredEndpoints>('', 'endpoints').delete(work, current);
  }

  private wanted(service: StoredService, pods: readonly StoredPod[]): Wanted {
    const { managedBy, headless } = this.labels;
    const all = wantedSubsets(service, pods);
    const part = truncated(all, mostAddresses);
    const { [headless]: _headless, ...labels } = service.metadata.labels ?? {};
    if (isHeadless(service)) labels[headless] = '';
    labels[managedBy] = this.name;
    return { subsets: part ?? all, isTruncated: part !== undefined, labels };
  }

  /** The object with the desired content; undefined when it has that already. */
  private changed(live: StoredEndpoints, wanted: Wanted, changedAt: number | undefined): StoredEndpoints | undefined {
    const { overCapacity, triggerTime } = this.labels;
    const { [overCapacity]: capacity, ...annotations } = live.metadata.annotations ?? {};
    const isRight =
      deepEqual(live.subsets ?? [], wanted.subsets) &&
      deepEqual(live.metadata.labels ?? {}, wanted.labels) &&
      capacity === (wanted.isTruncated ? 'truncated' : undefined);
    if (isRight) return undefined;
    if (wanted.isTruncated) annotations[overCapacity] = 'truncated';
    if (changedAt === undefined) delete annotations[triggerTime];
    else annotations[triggerTime] = formatTime(changedAt);
    const metadata = { ...live.metadata, labels: wanted.labels, annotations };
    return { ...live, metadata, subsets: wanted.subsets } as StoredEndpoints;
  }
}
