import { formatTime } from '../../../base/machinery/clock.js';
import { formatGroupResource } from '../../../base/machinery/group-version.js';
import { groupName } from '../../../base/machinery/vendor.js';
import type { Aggregation } from '../../../server/aggregation/aggregation.js';
import { type Availability, checkAvailability, localAvailability } from '../../../server/aggregation/availability.js';
import { isRemote, knownApiService } from '../../../server/aggregation/known-api-service.js';
import { changeSource } from '../frame/change-source.js';
import type { ResourceClient } from '../frame/loop-client.js';
import { type ReconcileContext, serverUser } from '../frame/reconcile-context.js';
import {
  type Pauses,
  type ReconcileDependencies,
  ReconcileLoop,
  type Source,
  source,
} from '../frame/reconcile-loop.js';
import type { WorkOutcome } from '../work-queue.js';
import { isStated, type StoredApiService, withAvailability } from './availability-condition.js';

export interface ApiServiceAvailabilityDependencies extends ReconcileDependencies {
  readonly aggregation: Aggregation;
}

/** Time between two checks of an available server. */
const recheckMs = 30_000;
/**
 * How long to wait until the cache of services, which another watch fills from the same log, shows a change, in
 * milliseconds.
 */
const settleMs = 200;

/**
 * Checks the servers of remote APIServices and writes the condition Available: after changes of an APIService, of its
 * service or its endpoints, and regularly. Serving processes send no request to a server that is not available
 * (specification 2.1).
 */
export class ApiServiceAvailabilityController extends ReconcileLoop {
  readonly name = 'apiservice-availability-controller';
  protected override readonly workers = 8;
  protected override readonly pauses: Pauses = { firstMs: 1_000, longestMs: 15_000 };
  private readonly informed = this.informer<StoredApiService>('apiregistration', 'apiservices');
  private readonly apiServices: ResourceClient<StoredApiService>;

  /** @throws Error when the registry has no APIServices. */
  constructor(private readonly own: ApiServiceAvailabilityDependencies) {
    super(own);
    this.apiServices = this.client<StoredApiService>('apiregistration', 'apiservices');
  }

  protected override get user() {
    return serverUser;
  }

  protected override get queueName(): string {
    return 'AvailableConditionController';
  }

  protected sources(): readonly Source[] {
    const discovery = { group: groupName('discovery', this.dependencies.names), resource: 'endpointslices' };
    return [
      source(this.informed, (apiService, old) => this.concerned(apiService, old)),
      ...['services', 'endpoints', formatGroupResource(discovery)].map((resource) => this.places(resource)),
    ];
  }

  private concerned(apiService: StoredApiService | undefined, old: StoredApiService | undefined): readonly string[] {
    if (apiService === undefined) return [];
    const now = knownApiService(apiService);
    const before = old && knownApiService(old);
    // The controller's own status writes are not a reason to check again.
    const isSame = before !== undefined && JSON.stringify(before.remote) === JSON.stringify(now.remote);
    return isSame && before.isAvailable === now.isAvailable ? [] : [now.name];
  }

  /**
   * A source for a resource that decides where extension servers are: the APIServices of a changed namespace are
   * checked a moment later.
   */
  private places(resource: string): Source {
    return changeSource(this.dependencies, resource, {
      keysOf: ({ key }) => {
        for (const name of this.remoteIn(key.namespace)) this.enqueue(name, settleMs);
        return [];
      },
      all: () => this.remoteIn(undefined),
    });
  }

  private *remoteIn(namespace: string | undefined): Generator<string> {
    for (const apiService of this.informed.all()) {
      const { name, remote } = knownApiService(apiService);
      if (remote !== undefined && (namespace === undefined || remote.namespace === namespace)) yield name;
    }
  }

  protected async reconcile(name: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { aggregation } = this.own;
    const apiService = await this.apiServices.get('', name);
    if (apiService === undefined) return 'done';
    const service = knownApiService(apiService);
    const availability = isRemote(service)
      ? await checkAvailability(service, aggregation.backendOf(service), work.signal)
      : localAvailability;
    await this.state(apiService, availability, work);
    if (!isRemote(service)) return 'done';
    return availability.status === 'True' ? recheckMs : 'later';
  }

  /** Writes the condition, unless the APIService was changed or replaced meanwhile: that queues work of its own. */
  private async state(seen: StoredApiService, availability: Availability, work: ReconcileContext): Promise<void> {
    const { timers, logger } = this.own;
    if (isStated(seen, availability)) return;
    const { name = '' } = seen.metadata;
    const spec = JSON.stringify(seen.spec);
    const written = await this.apiServices.updateStatus(work, seen, (live) =>
      JSON.stringify(live.spec) === spec ? withAvailability(live, availability, formatTime(timers.now())) : undefined,
    );
    if (written === undefined) return;
    const { reason, message } = availability;
    if (availability.status === 'True') logger.info('an APIService is available', { apiService: name, reason });
    else logger.warn('an APIService is not available', { apiService: name, reason, problem: message });
  }
}
