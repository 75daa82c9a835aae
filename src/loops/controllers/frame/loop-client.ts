import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Authorizer, AuthorizerAttributes } from '../../../base/machinery/authorizer.js';
import { formatTime } from '../../../base/machinery/clock.js';
import { deniedError } from '../../../base/machinery/denied-error.js';
import { formatApiVersion, formatGroupResource, type GroupResource } from '../../../base/machinery/group-version.js';
import { cloneJson } from '../../../base/machinery/json/exact-numbers.js';
import { packedSizeOf } from '../../../base/machinery/packed/object-packer.js';
import { decode } from '../../../base/machinery/schema/index.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import type { Timers } from '../../../base/machinery/timers.js';
import { type FieldManagers, ownManagers } from '../../../base/machinery/vendor.js';
import type { Scale } from '../../../objects/apis/autoscaling/v1/scale.types.js';
import { partOf } from '../../../objects/registry/resource-definition.js';
import type { ResourceRegistry, StoredServedResource } from '../../../objects/registry/resource-registry.js';
import type { AdmittedStore, WriteAdmission } from '../../../objects/registry/store/admitted-store.js';
import { recordFieldOwner } from '../../../objects/registry/store/field-owner.js';
import type { VersionedText } from '../../../objects/registry/store/object-codec.js';
import { parseWithoutManagers } from '../../../objects/registry/store/read-without-managers.js';
import type { DeleteOptions } from '../../../objects/registry/strategy.js';
import type { SubresourceDefinition, ViewSubresource } from '../../../objects/registry/subresource-definition.js';
import type { Storage } from '../../../storage/storage.interface.js';
import { workStore } from '../work-store.js';
import { type ReconcileContext, roleAggregationAccount, schedulerAccount, serverUser } from './reconcile-context.js';
import { TermOver } from './term-over.js';
import { type PlannedCreation, WriteLimiter } from './write-limiter.js';

/** The dependencies of the controllers' client. */
export interface LoopClientDependencies {
  readonly storage: Storage;
  readonly registry: ResourceRegistry;
  readonly timers: Timers;
  /** The admission of the writes. Default: everything is admitted. */
  readonly admission?: WriteAdmission | undefined;
  /** The limits that writes wait for. Default: creations wait for nothing. */
  readonly limiter?: WriteLimiter | undefined;
  /** Decides what each controller may do. Default: everything. */
  readonly authorizer?: Authorizer | undefined;
  /** The field managers of the writes. Default: those of our own names. */
  readonly managers?: FieldManagers | undefined;
}

/**
 * Reads and writes objects for control loops. One client serves all loops: the {@link ReconcileContext} identifies the
 * user.
 */
export class LoopClient {
  private readonly clients = new Map<string, ResourceClient<ApiObject>>();

  constructor(private readonly dependencies: LoopClientDependencies) {}

  /**
   * The client of a stored resource; `T` must be the type of its stored version.
   *
   * @throws Error when the resource is not registered (any more)
   */
  of<T extends ApiObject>(resource: GroupResource): ResourceClient<T> {
    const name = formatGroupResource(resource);
    const served = this.dependencies.registry.findStored(name);
    if (served === undefined) throw new Error(`the resource ${name} is not registered`);
    let client = this.clients.get(name);
    // A custom resource may have been redefined.
    if (client?.resource !== served) {
      client = new ResourceClient(served, this.dependencies);
      this.clients.set(name, client);
    }
    return client as unknown as ResourceClient<T>;
  }
}

/**
 * Objects of one resource, in their stored version, as a rule without managedFields. Writes pass authorization,
 * admission and the rules of the kind like those of clients, and record the field manager. Throws StatusErrors, and
 * TermOver for writes after the end of the term.
 */
export class ResourceClient<T extends ApiObject> {
  private readonly store: AdmittedStore;

  constructor(
    readonly resource: StoredServedResource,
    private readonly dependencies: LoopClientDependencies,
  ) {
    const inLiveNamespaces = resource.definition.namespaced;
    this.store = workStore(resource, dependencies, { inLiveNamespaces });
  }

  /** The newest committed state; undefined when there is none. */
  async get(namespace: string, name: string): Promise<T | undefined> {
    const found = await this.dependencies.storage.get({ resource: this.resource.storageResource, namespace, name });
    return found && this.read(found);
  }

  /**
   * The scale of an object: its desired and its actual number of replicas. Undefined when there is no such object.
   *
   * @throws Error when objects of this resource have no scale
   */
  async scale(work: ReconcileContext, namespace: string, name: string): Promise<(Scale & ApiObject) | undefined> {
    const { definition } = this.resource;
    const view = definition.subresources?.find((one) => one.name === 'scale');
    if (view?.type !== 'view') {
      throw new Error(`${formatGroupResource(definition)} does not implement the scale subresource`);
    }
    await this.authorize(work, 'get', namespace, name, 'scale');
    const object = await this.get(namespace, name);
    if (object === undefined) return undefined;
    view.checkShown?.(object);
    return view.read(object) as Scale & ApiObject;
  }

  /** Creates an object, which may omit kind, apiVersion and fields that have a default. */
  async create(work: ReconcileContext, object: DeepPartial<T>): Promise<T> {
    const size = packedSizeOf(object, Number.POSITIVE_INFINITY);
    const metadata = object.metadata as ApiObject['metadata'] | undefined;
    return this.createFrom(
      work,
      { namespace: metadata?.namespace ?? '', size, owner: managerOf(metadata) },
      () => object,
    );
  }

  /**
   * Calls `make` when its turn comes and creates the resulting object, so a waiting creation does not hold an object in
   * memory.
   *
   * @param plan.owner the object on whose behalf it is made
   */
  async createFrom(work: ReconcileContext, plan: PlannedCreation, make: () => DeepPartial<T>): Promise<T> {
    await this.untilAffordable(work, plan);
    return this.limiter.inMemory(work, plan, async () => {
      const { definition, served } = this.resource;
      const decoded = decode(served.type, make()).value as ApiObject;
      await this.authorize(work, 'create', decoded.metadata.namespace ?? '', decoded.metadata.name ?? '');
      definition.strategy.applyDefaults?.(decoded);
      this.recordOwner(work, undefined, decoded);
      const text = await this.store.create(work.context, decoded);
      work.wrote(text.resourceVersion);
      return this.read(text);
    });
  }

  /**
   * Changes an object, or its part `subresource` (`status`). `change` receives a copy of the live object without
   * managedFields, which it may change, and returns the object to write, or undefined for no write. It is called again
   * when another writer was faster.
   *
   * Resolves with the written object, or with undefined when nothing was written because `change` returned undefined or
   * because the object with this uid is gone.
   */
  async update(
    work: ReconcileContext,
    object: Readonly<ApiObject>,
    change: (live: T) => T | undefined,
    subresource = '',
  ): Promise<T | undefined> {
    const plan = { namespace: object.metadata.namespace ?? '', size: packedSizeOf(object, Number.POSITIVE_INFINITY) };
    await this.limiter.untilChangeable(work, object, plan.size);
    return this.limiter.inMemory(work, plan, () => this.updateNow(work, object, change, subresource));
  }

  private async updateNow(
    work: ReconcileContext,
    { metadata }: Readonly<ApiObject>,
    change: (live: T) => T | undefined,
    subresource: string,
  ): Promise<T | undefined> {
    const { namespace = '', name = '', uid } = metadata;
    const part = subresource === '' ? undefined : partOf(this.resource.definition, subresource);
    await this.authorize(work, 'update', namespace, name, subresource);
    try {
      const outcome = await this.store.update(work.context, namespace, name, {
        ...(part === undefined ? {} : { subresource: part }),
        transform: (live) => {
          if (live === undefined || live.metadata.uid !== uid) throw new Unwritten();
          const changed = change(copyWithoutManagers(live) as T);
          if (changed === undefined) throw new Unwritten();
          const next = decode(this.resource.served.type, changed).value as ApiObject;
          this.recordOwner(work, live, next, part);
          return next;
        },
      });
      work.wrote(outcome.resourceVersion);
      return this.read(outcome);
    } catch (error) {
      if (error instanceof Unwritten || isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** {@link update} of the status. */
  updateStatus(
    work: ReconcileContext,
    object: Readonly<ApiObject>,
    change: (live: T) => T | undefined,
  ): Promise<T | undefined> {
    return this.update(work, object, change, 'status');
  }

  /** The view `path` (`scale`) of the newest committed state; undefined when there is none. */
  async view<V extends ApiObject>(
    work: ReconcileContext,
    namespace: string,
    name: string,
    path: string,
  ): Promise<V | undefined> {
    const subresource = this.viewAt(path);
    await this.authorize(work, 'get', namespace, name, path);
    const live = await this.get(namespace, name);
    if (live === undefined) return undefined;
    subresource.checkShown?.(live);
    return subresource.read(live) as V;
  }

  /**
   * Changes the object with this uid through its view `path` (`scale`), as {@link update} does. False when nothing was
   * written.
   */
  async updateView<V extends ApiObject>(
    work: ReconcileContext,
    { metadata }: Readonly<ApiObject>,
    path: string,
    change: (view: V) => V | undefined,
  ): Promise<boolean> {
    const { namespace = '', name = '', uid } = metadata;
    const subresource = this.viewAt(path);
    await this.authorize(work, 'update', namespace, name, path);
    const { context } = work;
    const changed = (view: ApiObject, live: ApiObject) => {
      const next = live.metadata.uid === uid ? change(view as V) : undefined;
      if (next === undefined) throw new Unwritten();
      return next;
    };
    const finish = (live: ApiObject, view: ApiObject) => {
      const next = subresource.write(context, cloneJson(live), view);
      this.recordOwner(work, live, next, subresource);
      return next;
    };
    try {
      const outcome = await this.store.updateView(context, namespace, name, subresource, changed, finish);
      work.wrote(outcome.resourceVersion);
      return true;
    } catch (error) {
      if (error instanceof Unwritten || isNotFound(error)) return false;
      throw error;
    }
  }

  /** Whether objects have such a view. */
  hasView(path: string): boolean {
    return this.resource.definition.subresources?.some(({ type, name }) => type === 'view' && name === path) ?? false;
  }

  private viewAt(path: string): ViewSubresource {
    const { definition } = this.resource;
    const found = definition.subresources?.find(({ name }) => name === path);
    if (found?.type !== 'view') throw new Error(`${definition.resource} have no view ${path}`);
    return found;
  }

  /**
   * Creates `body` below the object with this uid, at a path such as `binding` or `eviction`, as a client does by POST:
   * with the admission and the rules of that path. False when the object is gone.
   *
   * Paths that write nothing into the object itself know only its name. To spare an object that was recreated at the
   * last moment, the body has to name the uid (`deleteOptions.preconditions.uid` of an eviction).
   */
  async post(work: ReconcileContext, { metadata }: Readonly<ApiObject>, path: string, body: object): Promise<boolean> {
    const { namespace = '', name = '', uid } = metadata;
    const { definition } = this.resource;
    const subresource = definition.subresources?.find((one) => one.name === path);
    if (subresource?.type !== 'created' && subresource?.type !== 'virtual') {
      throw new Error(`nothing can be created below ${definition.resource} at ${path}`);
    }
    await this.authorize(work, 'create', namespace, name, path);
    const { kind, type } = subresource.body;
    const identity = { kind: kind.kind, apiVersion: formatApiVersion(kind) };
    const decoded = decode(type, { ...body, ...identity, metadata: { name, namespace } }).value as ApiObject;
    try {
      if (subresource.type === 'virtual') {
        if ((await this.get(namespace, name))?.metadata.uid !== uid) return false;
        const admitted = await this.store.admitBelow(work.context, namespace, name, subresource, decoded);
        await subresource.perform(work.context, { namespace, name, dryRun: false, ...admitted });
        return true;
      }
      const { context } = work;
      const intoParent = (live: ApiObject, admitted: ApiObject) => {
        if (live.metadata.uid !== uid) throw new Unwritten();
        const next = subresource.write(context, cloneJson(live), admitted);
        this.recordOwner(work, live, next, subresource);
        return next;
      };
      const outcome = await this.store.createBelow(context, namespace, name, subresource, decoded, intoParent);
      work.wrote(outcome.resourceVersion);
      return true;
    } catch (error) {
      if (error instanceof Unwritten || isNotFound(error)) return false;
      throw error;
    }
  }

  /**
   * Deletes the object with this uid; false when it is gone already.
   *
   * @param options `preconditions` are set to the uid, with the resourceVersion if one is given
   */
  async delete(
    work: ReconcileContext,
    { metadata }: Readonly<ApiObject>,
    options: Omit<DeleteOptions, 'dryRun' | 'preconditions'> & { readonly resourceVersion?: string } = {},
  ): Promise<boolean> {
    const { namespace = '', name = '', uid } = metadata;
    await this.authorize(work, 'delete', namespace, name);
    const { resourceVersion, ...others } = options;
    const preconditions = { uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
    try {
      const { text } = await this.store.delete(work.context, namespace, name, { ...others, preconditions });
      work.wrote(text.resourceVersion);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      // Another object has the name: the intended one is gone.
      if (resourceVersion === undefined && isConflict(error)) return false;
      throw error;
    }
  }

  /**
   * Throws a 403 when the loop may not do this, and TermOver when its term has ended. A user who may patch an object
   * may also update it this way.
   */
  private async authorize(
    work: ReconcileContext,
    verb: string,
    namespace: string,
    name: string,
    subresource = '',
  ): Promise<void> {
    await this.checkRights(work, verb, namespace, name, subresource);
    // The new leader may already have done what this process planned.
    if (work.signal.aborted) throw new TermOver();
  }

  private async checkRights(
    work: ReconcileContext,
    verb: string,
    namespace: string,
    name: string,
    subresource: string,
  ): Promise<void> {
    const { authorizer } = this.dependencies;
    // The server needs no permission for its own objects.
    if (authorizer === undefined || work.context.user === serverUser) return;
    const { definition, served } = this.resource;
    const attributes: AuthorizerAttributes = {
      user: work.context.user as AuthorizerAttributes['user'],
      verb,
      isResourceRequest: true,
      namespace,
      apiGroup: definition.group,
      apiVersion: served.version,
      resource: definition.resource,
      subresource,
      name,
      path: '',
    };
    const first = await authorizer.authorize(attributes);
    if (first.decision === 'allow') return;
    if (verb === 'update') {
      const second = await authorizer.authorize({ ...attributes, verb: 'patch' });
      if (second.decision === 'allow') return;
    }
    throw deniedError(attributes, first.reason);
  }

  /** Waits while the controllers have used up the creation budget of the object's namespace. */
  private async untilAffordable(work: ReconcileContext, plan: PlannedCreation): Promise<void> {
    // Events are few by nature and have a budget of their own: they report what all other creations wait for.
    const isEvent = this.resource.definition.resource === 'events';
    const payer = isEvent ? { ...plan, namespace: `events of ${plan.namespace}` } : plan;
    await this.limiter.untilAffordable(work, payer);
    if (work.signal.aborted) throw new TermOver();
  }

  private get limiter(): WriteLimiter {
    return this.dependencies.limiter ?? unlimited;
  }

  private recordOwner(
    work: ReconcileContext,
    live: ApiObject | undefined,
    next: ApiObject,
    part?: SubresourceDefinition,
  ): void {
    const { registry, timers, managers = ownManagers } = this.dependencies;
    // The API server answers for APIServices, also where a loop watches over them.
    const isServers = this.resource.definition.resource === 'apiservices';
    const manager = isServers ? managers.server : managerOfAccount(work.account, managers);
    recordFieldOwner(this.resource, { registry, manager, time: formatTime(timers.now()) }, live, next, part);
  }

  private read({ json, resourceVersion }: Pick<VersionedText, 'json' | 'resourceVersion'>): T {
    const object = parseWithoutManagers(this.resource, json);
    object.metadata = { ...object.metadata, resourceVersion: String(resourceVersion) };
    return object as T;
  }
}

/** A kind with all its fields optional, at every depth: a new object may omit them. */
export type DeepPartial<T> = T extends readonly (infer U)[]
  ? DeepPartial<U>[]
  : T extends object
    ? { [K in keyof T]?: DeepPartial<T[K]> }
    : T;

function managerOfAccount(account: string, managers: FieldManagers): string {
  if (account === schedulerAccount) return managers.scheduler;
  return account === roleAggregationAccount ? managers.roleAggregation : managers.loops;
}

/** The limiter of clients in tests: they share one memory budget, and wait for no other limit. */
const unlimited = new WriteLimiter();

/** A copy that a loop may change. Its managedFields would be a large part of the work, and no loop reads them. */
function copyWithoutManagers(live: ApiObject): ApiObject {
  const { managedFields: _managedFields, ...metadata } = live.metadata;
  return cloneJson({ ...live, metadata });
}

/** The controller of an object, with the fields that its owner reference contains. */
function managerOf(metadata: ApiObject['metadata'] | undefined): ApiObject | undefined {
  const reference = metadata?.ownerReferences?.find(({ controller }) => controller === true);
  if (reference === undefined) return undefined;
  const { kind, apiVersion, name, uid } = reference;
  return { kind, apiVersion, metadata: { name, uid, namespace: metadata?.namespace ?? '' } };
}

/** Thrown to leave an update that has nothing to write. */
class Unwritten extends Error {}

function isNotFound(error: unknown): boolean {
  return error instanceof StatusError && error.reason === 'NotFound';
}

function isConflict(error: unknown): boolean {
  return error instanceof StatusError && error.reason === 'Conflict';
}
