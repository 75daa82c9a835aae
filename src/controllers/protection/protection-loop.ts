import type { ApiObject } from '../../machinery/api-object.js';
import { cloneJson } from '../../machinery/json/exact-numbers.js';
import { StatusError } from '../../machinery/status-error.js';
import type { VendorNames } from '../../machinery/vendor.js';
import type { Logger } from '../../observability/logger.js';
import { Reflector } from '../../registry/informers/reflector.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import type { AdmittedStore, WriteAdmission } from '../../registry/store/admitted-store.js';
import type { Storage } from '../../storage/storage.interface.js';
import type { ControlLoop } from '../control-loop.js';
import { runWithInformers } from '../run-with-informers.js';
import type { Timers } from '../timers.js';
import { coreResource } from '../token-secrets.js';
import { accountContext } from '../work-context.js';
import { type WorkOutcome, WorkQueue } from '../work-queue.js';
import { workStore } from '../work-store.js';

/** Dependencies of the loops that protect objects in use. */
export interface ProtectionOptions {
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

/**
 * Removes a finalizer from the deleted objects of one resource once nothing uses them, which ends the deletion
 * (specification 5.5, `StorageObjectInUseProtection`). Keeps in mind only the objects that wait for that.
 */
export abstract class ProtectionLoop implements ControlLoop {
  abstract readonly name: string;
  private readonly store: AdmittedStore;
  /** Deleted objects with the finalizer, by `<namespace>/<name>`. */
  private readonly deleted = new Map<string, ApiObject>();
  protected queue: WorkQueue | undefined;

  /** @throws Error when the registry lacks the resource. */
  constructor(
    protected readonly options: ProtectionOptions,
    resource: string,
    private readonly finalizer: string,
  ) {
    const { registry } = options;
    this.store = workStore(coreResource(registry, resource), options);
  }

  /** Informers of what may use the objects. They start before the objects are read. */
  protected abstract users(): readonly Reflector[];

  /** Whether something uses an object that is being deleted. What comes to use it later calls {@link lookAt}. */
  protected abstract isInUse(object: ApiObject): Promise<boolean> | boolean;

  /** Queues a deleted object for another look, by `<namespace>/<name>`. */
  protected lookAt(key: string): void {
    if (this.deleted.has(key)) this.queue?.add(key);
  }

  /** Queues all deleted objects for another look. */
  protected lookAtAll(): void {
    for (const key of this.deleted.keys()) this.queue?.add(key);
  }

  protected readonly onLost = (error: unknown): void => {
    this.options.logger.warn('a control loop lost its place in the change log', { loop: this.name, error });
  };

  async run(signal: AbortSignal): Promise<void> {
    const { storage, registry, logger, timers } = this.options;
    const queue = new WorkQueue({
      work: (key, ended) => this.process(key, ended),
      onFault: (object, error) =>
        logger.warn('a deleted object could not be released yet', { loop: this.name, object, error }),
      workers,
      firstPauseMs: this.options.firstPauseMs ?? 500,
      longestPauseMs: this.options.longestPauseMs ?? 60_000,
      timers,
    });
    this.queue = queue;
    this.deleted.clear();
    const objects = new Reflector(storage, registry, this.store.resource.storageResource, this.sink(), this.onLost);
    await runWithInformers(queue, [...this.users(), objects], signal);
  }

  private sink() {
    const set = (object: ApiObject) => {
      const { namespace = '', name = '' } = object.metadata;
      const key = `${namespace}/${name}`;
      if (!this.isWaiting(object)) this.deleted.delete(key);
      else {
        this.deleted.set(key, object);
        this.queue?.add(key);
      }
    };
    return {
      replace: (objects: readonly ApiObject[]) => {
        this.deleted.clear();
        for (const object of objects) set(object);
      },
      set,
      delete: (namespace: string, name: string) => void this.deleted.delete(`${namespace}/${name}`),
    };
  }

  private isWaiting({ metadata }: ApiObject): boolean {
    return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(this.finalizer);
  }

  private async process(key: string, signal: AbortSignal): Promise<WorkOutcome> {
    const object = this.deleted.get(key);
    // An object in use is looked at again when its user goes.
    if (object === undefined || (await this.isInUse(object))) return 'done';
    const { namespace = '', name = '', uid } = object.metadata;
    const context = accountContext(this.name, this.options.names, this.options.timers.now(), signal);
    try {
      await this.store.update(context, namespace, name, {
        transform: async (live) => {
          const isSame = live !== undefined && live.metadata.uid === uid && this.isWaiting(live);
          if (!isSame || (await this.isInUse(live))) throw new Superseded();
          const copy = cloneJson(live) as ApiObject;
          copy.metadata.finalizers = (copy.metadata.finalizers ?? []).filter((entry) => entry !== this.finalizer);
          return copy;
        },
      });
    } catch (error) {
      const isGone = error instanceof StatusError && error.reason === 'NotFound';
      if (!isGone && !(error instanceof Superseded)) throw error;
    }
    return 'done';
  }
}

/** The object changed meanwhile; that change queues work of its own. */
class Superseded extends Error {}
