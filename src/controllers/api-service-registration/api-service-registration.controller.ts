import { LocalPriorities } from '../../aggregation/local-priorities.js';
import type { ApiObject } from '../../machinery/api-object.js';
import { cloneJson } from '../../machinery/json/exact-numbers.js';
import { decode } from '../../machinery/schema/index.js';
import { StatusError } from '../../machinery/status-error.js';
import { groupName, type VendorNames } from '../../machinery/vendor.js';
import type { Logger } from '../../observability/logger.js';
import { Reflector } from '../../registry/informers/reflector.js';
import type { ResourceRegistry, StoredServedResource } from '../../registry/resource-registry.js';
import type { AdmittedStore, WriteAdmission } from '../../registry/store/admitted-store.js';
import { parseStored } from '../../registry/store/object-codec.js';
import type { Storage } from '../../storage/storage.interface.js';
import type { ControlLoop } from '../control-loop.js';
import type { Timers } from '../timers.js';
import { workContext } from '../work-context.js';
import { type WorkOutcome, WorkQueue } from '../work-queue.js';
import { workStore } from '../work-store.js';
import {
  automanagedLabel,
  builtInApiServices,
  customApiServices,
  registrationStep,
  type WantedApiService,
  WantedByDefinitions,
} from './wanted-api-services.js';

export interface ApiServiceRegistrationOptions {
  readonly storage: Storage;
  readonly admission?: WriteAdmission | undefined;
  /** Says which built-in group versions are served. */
  readonly registry: ResourceRegistry;
  readonly names: VendorNames;
  readonly logger: Logger;
  readonly timers: Timers;
}

const workers = 4;
/** Errors that mean that another writer was faster. */
const races: ReadonlySet<string> = new Set(['AlreadyExists', 'NotFound', 'Conflict']);

/**
 * Keeps an APIService for every group version that this server serves: those of built-in groups are made and corrected
 * once, when the loop starts; those of custom resources always (specification 2.1). It is a loop, because a definition
 * may come and go at any time and one process must do this, not all. No request depends on these objects.
 */
export class ApiServiceRegistrationController implements ControlLoop {
  readonly name = 'apiservice-registration-controller';
  private readonly store: AdmittedStore;
  private readonly definitions: StoredServedResource | undefined;
  private readonly priorities: LocalPriorities;
  private builtIn = new Map<string, WantedApiService>();
  private custom = new WantedByDefinitions();
  private corrected = new Set<string>();
  private atStart = new Set<string>();

  /** @throws Error when the registry has no APIServices. */
  constructor(private readonly options: ApiServiceRegistrationOptions) {
    const { registry, names } = options;
    const served = registry.findStoredResource(groupName('apiregistration', names), 'v1', 'apiservices');
    if (served === undefined) throw new Error('the resource apiservices is not registered');
    this.store = workStore(served, options);
    this.definitions = registry.findStoredResource(
      groupName('apiextensions', names),
      'v1',
      'customresourcedefinitions',
    );
    this.priorities = new LocalPriorities(names);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { storage, registry, logger, timers } = this.options;
    const failed = new AbortController();
    const ended = AbortSignal.any([signal, failed.signal]);
    const queue = new WorkQueue({
      work: (name) => this.process(name, ended),
      onFault: (apiService, error) =>
        logger.warn('an APIService of this server could not be kept yet', { apiService, error }),
      workers,
      firstPauseMs: 500,
      longestPauseMs: 60_000,
      timers,
    });
    const lost = (error: unknown) =>
      logger.warn('a control loop lost its place in the change log', { loop: this.name, error });
    this.builtIn = new Map(
      builtInApiServices(registry.groups(), this.priorities).map((wanted) => [wanted.name, wanted]),
    );
    this.custom = new WantedByDefinitions();
    this.corrected = new Set();
    this.atStart = new Set();
    const { storageResource } = this.store.resource;
    const services = new Reflector(storage, registry, storageResource, this.serviceSink(queue), lost);
    // The definitions are known before anything is done: what they want must not look superfluous.
    const reflectors = [services];
    if (this.definitions !== undefined) {
      const sink = this.definitionSink(queue);
      reflectors.unshift(new Reflector(storage, registry, this.definitions.storageResource, sink, lost));
    }
    let work: Promise<void> | undefined;
    try {
      for (const reflector of reflectors) await reflector.start(ended);
      work = queue.run(ended);
      for (const name of this.builtIn.keys()) queue.add(name);
      await work;
    } finally {
      failed.abort();
      await Promise.all([work, ...reflectors.map((reflector) => reflector.stopped())]);
    }
  }

  private serviceSink(queue: WorkQueue) {
    let isFilled = false;
    return {
      replace: (objects: readonly ApiObject[]) => {
        for (const { metadata } of objects) {
          if (!isFilled) this.atStart.add(metadata.name ?? '');
          queue.add(metadata.name ?? '');
        }
        isFilled = true;
        for (const name of this.custom.names()) queue.add(name);
      },
      set: ({ metadata }: ApiObject) => queue.add(metadata.name ?? ''),
      delete: (_namespace: string, name: string) => queue.add(name),
    };
  }

  private definitionSink(queue: WorkQueue) {
    const change = (definition: string, wanted: readonly WantedApiService[]) => {
      for (const name of this.custom.set(definition, wanted)) queue.add(name);
    };
    return {
      reduce: (object: ApiObject): ApiObject => ({
        metadata: object.metadata,
        wanted: customApiServices(object),
      }),
      replace: (objects: readonly ApiObject[]) => {
        const names = new Set(objects.map(({ metadata }) => metadata.name ?? ''));
        for (const name of this.custom.definitions()) if (!names.has(name)) change(name, []);
        for (const object of objects) change(object.metadata.name ?? '', object.wanted as WantedApiService[]);
      },
      set: (object: ApiObject) => change(object.metadata.name ?? '', object.wanted as WantedApiService[]),
      delete: (_namespace: string, name: string) => change(name, []),
    };
  }

  private wanted(name: string): WantedApiService | undefined {
    return this.builtIn.get(name) ?? this.custom.find(name);
  }

  private async process(name: string, signal: AbortSignal): Promise<WorkOutcome> {
    const { resource } = this.store;
    const stored = await this.options.storage.get({ resource: resource.storageResource, namespace: '', name });
    const live = stored && parseStored(resource, stored);
    const wanted = this.wanted(name);
    const step = registrationStep(live, wanted, this.corrected.has(name), this.atStart.has(name));
    try {
      await this.take(step, name, live, wanted, signal);
    } catch (error) {
      if (!(error instanceof StatusError && races.has(error.reason))) throw error;
      return 'later';
    }
    if (wanted?.automanaged === 'onstart') this.corrected.add(name);
    return 'done';
  }

  private async take(
    step: ReturnType<typeof registrationStep>,
    name: string,
    live: ApiObject | undefined,
    wanted: WantedApiService | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const context = workContext(this.name, this.options.timers.now(), signal);
    if (step === 'delete' && live !== undefined) {
      const { uid } = live.metadata;
      await this.store.delete(context, '', name, uid === undefined ? {} : { preconditions: { uid } });
    } else if (step === 'create' && wanted !== undefined) {
      const body = { metadata: { name, labels: { [automanagedLabel]: wanted.automanaged } }, spec: wanted.spec };
      await this.store.create(context, decode(this.store.resource.served.type, body).value as ApiObject);
    } else if (step === 'update' && wanted !== undefined) {
      await this.store.update(context, '', name, {
        transform: (current) => {
          if (current === undefined || registrationStep(current, wanted, false, true) !== 'update') {
            throw new StatusError('Conflict', 'the APIService was changed meanwhile');
          }
          return { ...(cloneJson(current) as ApiObject), spec: wanted.spec };
        },
      });
    }
  }
}
