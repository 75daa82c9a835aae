import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Informer } from '../../../objects/registry/informers/informer.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import {
  ownKey,
  type ReconcileDependencies,
  ReconcileLoop,
  type Source,
  source,
  splitKey,
} from '../frame/reconcile-loop.js';
import type { WorkOutcome } from '../work-queue.js';

/**
 * Removes a finalizer from the deleted objects of one core resource once nothing uses them, which ends the deletion
 * (specification 5.5, `StorageObjectInUseProtection`).
 */
export abstract class ProtectionLoop<T extends ApiObject> extends ReconcileLoop {
  protected readonly objects: Informer<T>;

  constructor(
    dependencies: ReconcileDependencies,
    private readonly objectResource: string,
    private readonly finalizer: string,
  ) {
    super(dependencies);
    this.objects = this.informer<T>('', objectResource);
  }

  /** Informers of what may use the objects, with the keys of those that something stopped using. */
  protected abstract users(): readonly Source[];

  /** Resolves when all users that used an object before this call are known. */
  protected async usersKnown(): Promise<void> {}

  /** Whether something uses an object that is being deleted, as far as is known. */
  protected abstract isInUse(object: T): boolean;

  protected sources(): readonly Source[] {
    const waiting = (object: T | undefined) =>
      object !== undefined && this.isWaiting(object) ? ownKey(object, undefined) : [];
    return [...this.users(), source(this.objects, waiting)];
  }

  private isWaiting({ metadata }: T): boolean {
    return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(this.finalizer);
  }

  protected async reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { namespace, name } = splitKey(key);
    const object = this.objects.get(namespace, name);
    if (object === undefined || !this.isWaiting(object)) return 'done';
    await this.usersKnown();
    // An object in use is checked again when its user is gone.
    if (this.isInUse(object)) return 'done';
    await this.client<T>('', this.objectResource).update(work, object, (live) => {
      if (!this.isWaiting(live) || this.isInUse(live)) return undefined;
      live.metadata.finalizers = (live.metadata.finalizers ?? []).filter((entry) => entry !== this.finalizer);
      return live;
    });
    return 'done';
  }
}
