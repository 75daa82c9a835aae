import type { Namespace } from '../apis/core/v1/namespace.types.js';
import type { ApiObject } from '../machinery/api-object.js';
import { cloneJson } from '../machinery/json/exact-numbers.js';
import { decode } from '../machinery/schema/index.js';
import { StatusError } from '../machinery/status-error.js';
import type { VendorNames } from '../machinery/vendor.js';
import type { Logger } from '../observability/logger.js';
import { ChangeInformer } from '../registry/informers/change-informer.js';
import { Reflector } from '../registry/informers/reflector.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import type { AdmittedStore, WriteAdmission } from '../registry/store/admitted-store.js';
import { parseStored } from '../registry/store/object-codec.js';
import type { Storage } from '../storage/storage.interface.js';
import type { ControlLoop } from './control-loop.js';
import { isNamespaceTerminating } from './frame/refusals.js';
import { runWithInformers } from './run-with-informers.js';
import type { Timers } from './timers.js';
import { coreResource } from './token-secrets.js';
import { accountContext } from './work-context.js';
import { type WorkOutcome, WorkQueue } from './work-queue.js';
import { workStore } from './work-store.js';

/** Dependencies of every loop that keeps one object in each namespace. */
export interface EveryNamespaceOptions {
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

const workers = 4;
/** Errors that mean that another writer was faster. */
const races: ReadonlySet<string> = new Set(['AlreadyExists', 'NotFound', 'Conflict']);

/**
 * Keeps an object of the core group under one name in every active namespace. Creates it where it is missing, also
 * after somebody deletes it, and lets `repair` correct it.
 */
export abstract class EveryNamespaceLoop implements ControlLoop {
  abstract readonly name: string;
  private readonly namespaces: AdmittedStore;
  private readonly store: AdmittedStore;
  private queue: WorkQueue | undefined;
  private active = new Set<string>();

  /** @throws Error when the registry lacks namespaces or the resource. */
  constructor(
    protected readonly options: EveryNamespaceOptions,
    resource: string,
    private readonly objectName: string,
  ) {
    const { registry } = options;
    this.namespaces = workStore(coreResource(registry, 'namespaces'), options);
    this.store = workStore(coreResource(registry, resource), options, { inLiveNamespaces: true });
  }

  /** The fields of a new object besides its metadata. */
  protected abstract content(): Readonly<Record<string, unknown>>;

  /** Returns the corrected object, or the same object when it is correct. Must not change its argument. */
  protected repair(live: ApiObject): ApiObject {
    return live;
  }

  /** Queues all namespaces for a check. */
  protected lookAtAll(): void {
    for (const namespace of this.active) this.queue?.add(namespace);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { storage, registry, logger, timers } = this.options;
    const queue = new WorkQueue({
      work: (namespace, ended) => this.process(namespace, ended),
      onFault: (namespace, error) =>
        logger.warn('an object of a namespace could not be made yet', { loop: this.name, namespace, error }),
      workers,
      firstPauseMs: this.options.firstPauseMs ?? 500,
      longestPauseMs: this.options.longestPauseMs ?? 60_000,
      timers,
    });
    this.queue = queue;
    this.active = new Set();
    const lost = (error: unknown) =>
      logger.warn('a control loop lost its place in the change log', { loop: this.name, error });
    // Follow the objects first, so a deletion while namespaces are being read is not missed.
    const objects = new ChangeInformer(
      storage,
      this.store.resource.storageResource,
      {
        changed: ({ namespace, name }) => {
          if (name === this.objectName && this.active.has(namespace)) queue.add(namespace);
        },
        missed: () => this.lookAtAll(),
      },
      lost,
    );
    const namespaces = new Reflector(storage, registry, 'namespaces', this.namespaceSink(queue), lost);
    try {
      await runWithInformers(queue, [objects, namespaces], signal);
    } finally {
      this.queue = undefined;
    }
  }

  private namespaceSink(queue: WorkQueue) {
    const set = (object: ApiObject) => {
      const name = object.metadata.name ?? '';
      if (!isActive(object)) this.active.delete(name);
      else if (!this.active.has(name)) {
        this.active.add(name);
        queue.add(name);
      }
    };
    return {
      reduce: ({ metadata, status }: ApiObject) =>
        ({
          metadata: { name: metadata.name, deletionTimestamp: metadata.deletionTimestamp },
          status,
        }) as ApiObject,
      replace: (objects: readonly ApiObject[]) => {
        this.active = new Set();
        for (const object of objects) set(object);
      },
      set,
      delete: (_namespace: string, name: string) => {
        this.active.delete(name);
      },
    };
  }

  private async process(namespace: string, signal: AbortSignal): Promise<WorkOutcome> {
    const { storage } = this.options;
    const key = { resource: this.store.resource.storageResource, namespace, name: this.objectName };
    const stored = await storage.get(key);
    if (stored !== undefined) {
      const live = parseStored(this.store.resource, stored);
      if (live.metadata.deletionTimestamp !== undefined || this.repair(live) === live) return 'done';
    }
    // Read the store instead of memory: a terminating namespace must get nothing new.
    const owner = await storage.get({ resource: 'namespaces', namespace: '', name: namespace });
    if (owner === undefined || !isActive(parseStored(this.namespaces.resource, owner))) return 'done';
    try {
      if (stored === undefined) await this.create(namespace, signal);
      else await this.update(namespace, signal);
    } catch (error) {
      // The other writer's change triggers another check of its own. What admission refuses is tried again.
      if (!(error instanceof StatusError && (races.has(error.reason) || isNamespaceTerminating(error)))) throw error;
    }
    return 'done';
  }

  private async create(namespace: string, signal: AbortSignal): Promise<void> {
    const { resource } = this.store;
    const body = { metadata: { name: this.objectName, namespace }, ...this.content() };
    const object = decode(resource.served.type, body).value as ApiObject;
    resource.definition.strategy.applyDefaults?.(object);
    await this.store.create(this.context(signal), object);
  }

  private async update(namespace: string, signal: AbortSignal): Promise<void> {
    await this.store.update(this.context(signal), namespace, this.objectName, {
      transform: (live) => this.repair(cloneJson(live) as ApiObject),
    });
  }

  private context(signal: AbortSignal) {
    return accountContext(this.name, this.options.names, this.options.timers.now(), signal);
  }
}

function isActive(object: ApiObject): boolean {
  const { metadata, status } = object as ApiObject as Namespace;
  return metadata.deletionTimestamp === undefined && status?.phase !== 'Terminating';
}
