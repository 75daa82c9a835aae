import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Clock } from '../../../base/machinery/clock.js';
import type { GroupResource } from '../../../base/machinery/group-version.js';
import { pooledRandomBytes } from '../../../base/machinery/pooled-random-bytes.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import { notFoundError } from '../../../base/machinery/status-error.js';
import type { SelectionPredicate } from '../../../storage/selection-predicate.js';
import type {
  ChangeSubscription,
  ListPage,
  ListQuery,
  SharedObject,
  Storage,
  StoredObject,
} from '../../../storage/storage.interface.js';
import { StorageError } from '../../../storage/storage-error.js';
import type { RandomBytes } from '../metadata/generate-name.js';
import type { StoredServedResource } from '../resource-registry.js';
import { createObject } from './create-object.js';
import { deleteObject } from './delete-object.js';
import { type VersionedText } from './object-codec.js';
import { StoreDependencies } from './store-dependencies.js';
import type {
  CreateOptions,
  DeleteOutcome,
  StoreDeleteOptions,
  StoreOptions,
  StoreUpdateOptions,
  UpdateOutcome,
} from './store-options.js';
import { toStatusError } from './to-status-error.js';
import { updateObject } from './update-object.js';

/**
 * The store that all resources use: it applies the rules of the kind (its strategy) to compare-and-swap writes. Throws
 * only StatusError. A write that throws has changed nothing, unless its outcome is unknown (504). Then the object may
 * have been written, so its allocations are kept.
 */
export class Store {
  readonly groupResource: GroupResource;
  private readonly dependencies: StoreDependencies;
  /** The oldest version at which the definition of the kind is known to have existed. */
  private definedSince: bigint | undefined;

  constructor(
    readonly resource: StoredServedResource,
    storage: Storage,
    clock: Clock,
    random: RandomBytes = pooledRandomBytes,
    options: StoreOptions = {},
  ) {
    this.dependencies = new StoreDependencies(resource, storage, clock, random, options);
    this.groupResource = this.dependencies.groupResource;
  }

  /** Writes a new object that is decoded, defaulted and admitted. Changes `object` to the written state. */
  create(context: RequestContext, object: ApiObject, options: CreateOptions): Promise<VersionedText> {
    return this.whenReady(() => createObject(this.dependencies, context, object, options));
  }

  /**
   * The newest committed state, or with `notOlderThan` any state from that version on; 404 when the object does not
   * exist.
   */
  async get(namespace: string, name: string, notOlderThan?: bigint): Promise<StoredObject> {
    const found = await this.dependencies.read(this.dependencies.keyOf(namespace, name), name, notOlderThan);
    if (found === undefined) throw notFoundError(this.groupResource, name);
    return found;
  }

  /** The same state as that of {@link get} with this version, if lists have it in memory. */
  shared(namespace: string, name: string, resourceVersion: bigint): SharedObject | undefined {
    const { storage } = this.dependencies;
    return storage.shared?.(this.dependencies.keyOf(namespace, name), resourceVersion);
  }

  /** One page of the scope in (namespace, name) order. */
  async list(query: Omit<ListQuery, 'resource'>): Promise<ListPage> {
    try {
      return await this.dependencies.storage.list({ ...query, resource: this.resource.storageResource });
    } catch (error) {
      throw toStatusError(error, this.groupResource, '', query.at ?? query.notOlderThan);
    }
  }

  /** Changes of the scope after `from`; those that don't concern `select` may be left out. `owner` is the tenant. */
  async watch(
    namespace: string | undefined,
    name: string | undefined,
    from: bigint,
    select?: SelectionPredicate,
    owner?: string,
  ): Promise<ChangeSubscription> {
    try {
      const scope = { resource: this.resource.storageResource, namespace, name, select, owner };
      return await this.dependencies.storage.watch(scope, from);
    } catch (error) {
      throw toStatusError(error, this.groupResource, '', from, 'watch');
    }
  }

  /**
   * Refuses a version from before the definition of the kind was made (410): the changes after it are about objects of
   * another definition that had its name.
   */
  async checkDefined(version: bigint): Promise<void> {
    const { definedBy } = this.dependencies.definition;
    if (definedBy === undefined || (this.definedSince !== undefined && version >= this.definedSince)) return;
    const { storage } = this.dependencies;
    try {
      const { items } = await storage.list({ resource: definedBy.resource, name: definedBy.name, at: version });
      if (items[0]?.uid !== definedBy.uid) {
        const resourceVersion = this.definedSince ?? (await storage.head());
        throw new StorageError('Expired', 'the kind was defined after the version', { resourceVersion });
      }
    } catch (error) {
      throw toStatusError(error, this.groupResource, '', version, 'watch');
    }
    if (this.definedSince === undefined || version < this.definedSince) this.definedSince = version;
  }

  /** The newest committed version over all resources. */
  async head(): Promise<bigint> {
    try {
      return await this.dependencies.storage.head();
    } catch (error) {
      throw toStatusError(error, this.groupResource, '');
    }
  }

  /** Writes the object that `options.transform` makes from the live one; creates it where that is allowed. */
  update(
    context: RequestContext,
    namespace: string,
    name: string,
    options: StoreUpdateOptions,
  ): Promise<UpdateOutcome> {
    return this.whenReady(() => updateObject(this.dependencies, context, namespace, name, options));
  }

  /** Deletes or marks one object (specification 3). */
  delete(
    context: RequestContext,
    namespace: string,
    name: string,
    options: StoreDeleteOptions,
  ): Promise<DeleteOutcome> {
    return this.whenReady(() => deleteObject(this.dependencies, context, namespace, name, options));
  }

  private whenReady<T>(work: () => Promise<T>): Promise<T> {
    const waiting = this.dependencies.definition.prepare?.();
    return waiting === undefined ? work() : waiting.then(work);
  }
}
