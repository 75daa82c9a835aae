import type { Aggregation } from '../../aggregation/aggregation.js';
import { type Availability, checkAvailability, localAvailability } from '../../aggregation/availability.js';
import { isRemote, type KnownApiService, knownApiService } from '../../aggregation/known-api-service.js';
import type { APIService } from '../../apis/apiregistration/v1/api-service.types.js';
import type { ApiObject } from '../../machinery/api-object.js';
import { formatTime } from '../../machinery/clock.js';
import { cloneJson } from '../../machinery/json/exact-numbers.js';
import { StatusError } from '../../machinery/status-error.js';
import { groupName, type VendorNames } from '../../machinery/vendor.js';
import type { Logger } from '../../observability/logger.js';
import { ChangeInformer } from '../../registry/informers/change-informer.js';
import { Reflector } from '../../registry/informers/reflector.js';
import { partOf } from '../../registry/resource-definition.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import type { AdmittedStore, WriteAdmission } from '../../registry/store/admitted-store.js';
import { parseStored } from '../../registry/store/object-codec.js';
import type { Storage } from '../../storage/storage.interface.js';
import type { ControlLoop } from '../control-loop.js';
import type { Timers } from '../timers.js';
import { workContext } from '../work-context.js';
import { type WorkOutcome, WorkQueue } from '../work-queue.js';
import { workStore } from '../work-store.js';

export interface ApiServiceAvailabilityOptions {
  readonly storage: Storage;
  readonly admission?: WriteAdmission | undefined;
  readonly registry: ResourceRegistry;
  readonly names: VendorNames;
  readonly logger: Logger;
  readonly timers: Timers;
  readonly aggregation: Aggregation;
}

const workers = 8;
/** Time between two checks of a server that is there. */
const recheckMs = 30_000;
const firstRetryMs = 1_000;
const longestRetryMs = 15_000;
/** The memory of services is filled from the same log, by another reader. */
const settleMs = 200;

/**
 * Checks the servers of remote APIServices and writes the condition Available: after changes of an APIService, of its
 * service or its endpoints, and regularly. Serving processes send no request to a server that is not available
 * (specification 2.1).
 */
export class ApiServiceAvailabilityController implements ControlLoop {
  readonly name = 'apiservice-availability-controller';
  private readonly store: AdmittedStore;
  private known = new Map<string, KnownApiService>();

  /** @throws Error when the registry has no APIServices. */
  constructor(private readonly options: ApiServiceAvailabilityOptions) {
    const group = groupName('apiregistration', options.names);
    const served = options.registry.findStoredResource(group, 'v1', 'apiservices');
    if (served === undefined) throw new Error('the resource apiservices is not registered');
    this.store = workStore(served, options);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { storage, registry, logger, timers, names } = this.options;
    const failed = new AbortController();
    const ended = AbortSignal.any([signal, failed.signal]);
    this.known = new Map();
    const queue = new WorkQueue({
      work: (name) => this.process(name, ended),
      onFault: (apiService, error) =>
        logger.warn('the availability of an APIService could not be written yet', { apiService, error }),
      workers,
      firstPauseMs: firstRetryMs,
      longestPauseMs: longestRetryMs,
      timers,
    });
    const lost = (error: unknown) =>
      logger.warn('a control loop lost its place in the change log', { loop: this.name, error });
    const lookAt = (namespace: string | undefined) => {
      const concerned = [...this.known.values()].filter(
        ({ remote }) => remote !== undefined && (namespace === undefined || remote.namespace === namespace),
      );
      if (concerned.length === 0) return;
      void timers.wait(settleMs, ended).then(() => {
        for (const { name } of concerned) queue.add(name);
      });
    };
    const places = ['services', 'endpoints', `endpointslices.${groupName('discovery', names)}`].map(
      (resource) =>
        new ChangeInformer(
          storage,
          resource,
          { changed: ({ namespace }) => lookAt(namespace), missed: () => lookAt(undefined) },
          lost,
        ),
    );
    const services = new Reflector(storage, registry, this.store.resource.storageResource, this.sink(queue), lost);
    const work = queue.run(ended);
    try {
      for (const place of places) await place.start(ended);
      await services.start(ended);
      await work;
    } finally {
      failed.abort();
      await Promise.all([work, services.stopped(), ...places.map((place) => place.stopped())]);
    }
  }

  private sink(queue: WorkQueue) {
    const set = (object: ApiObject) => {
      const service = knownApiService(object);
      const before = this.known.get(service.name);
      this.known.set(service.name, service);
      // What this loop itself writes is no reason to check again.
      const isSame = JSON.stringify(before?.remote) === JSON.stringify(service.remote) && before !== undefined;
      if (!isSame || before.isAvailable !== service.isAvailable) queue.add(service.name);
    };
    return {
      replace: (objects: readonly ApiObject[]) => {
        this.known = new Map();
        for (const object of objects) set(object);
      },
      set,
      delete: (_namespace: string, name: string) => {
        this.known.delete(name);
      },
    };
  }

  private async process(name: string, signal: AbortSignal): Promise<WorkOutcome> {
    const { storage, aggregation } = this.options;
    const { resource } = this.store;
    const stored = await storage.get({ resource: resource.storageResource, namespace: '', name });
    if (stored === undefined) return 'done';
    const object = parseStored(resource, stored);
    const service = knownApiService(object);
    const availability = isRemote(service)
      ? await checkAvailability(service, aggregation.backendOf(service), signal)
      : localAvailability;
    await this.write(object, availability, signal);
    if (!isRemote(service)) return 'done';
    return availability.status === 'True' ? recheckMs : 'later';
  }

  /** Writes the condition, unless the APIService was changed or replaced meanwhile: that queues work of its own. */
  private async write(seen: ApiObject, availability: Availability, signal: AbortSignal): Promise<void> {
    const { timers, logger } = this.options;
    const { name = '', uid } = seen.metadata;
    const spec = JSON.stringify(seen.spec);
    if (isStated(seen as ApiObject & APIService, availability)) return;
    try {
      await this.store.update(workContext(this.name, timers.now(), signal), '', name, {
        subresource: partOf(this.store.resource.definition, 'status'),
        transform: (live) => {
          if (live === undefined || live.metadata.uid !== uid || JSON.stringify(live.spec) !== spec) {
            throw new Superseded();
          }
          return withAvailability(live, availability, formatTime(timers.now()));
        },
      });
      const { reason, message } = availability;
      if (availability.status === 'True') logger.info('an APIService is available', { apiService: name, reason });
      else logger.warn('an APIService is not available', { apiService: name, reason, problem: message });
    } catch (error) {
      const isGone = error instanceof StatusError && error.reason === 'NotFound';
      if (!isGone && !(error instanceof Superseded)) throw error;
    }
  }
}

class Superseded extends Error {}

function isStated({ status }: APIService, wanted: Availability): boolean {
  const found = status?.conditions?.find(({ type }) => type === 'Available');
  return found?.status === wanted.status && found.reason === wanted.reason && found.message === wanted.message;
}

function withAvailability(live: ApiObject, availability: Availability, now: string): ApiObject {
  const copy = cloneJson(live) as ApiObject & APIService;
  const others = (copy.status?.conditions ?? []).filter(({ type }) => type !== 'Available');
  const before = copy.status?.conditions?.find(({ type }) => type === 'Available');
  const lastTransitionTime = before?.status === availability.status ? before.lastTransitionTime : now;
  copy.status = { ...copy.status, conditions: [...others, { type: 'Available', lastTransitionTime, ...availability }] };
  return copy;
}
