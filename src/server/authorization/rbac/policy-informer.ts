import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatGroupResource } from '../../../base/machinery/group-version.js';
import { inTurns } from '../../../base/machinery/turns.js';
import { type ObjectSink, Reflector } from '../../../objects/registry/informers/reflector.js';
import { sharedParts } from '../../../objects/registry/informers/shared-parts.js';
import type { StoredResources } from '../../../objects/registry/store/object-codec.js';
import { readWithoutManagers } from '../../../objects/registry/store/read-without-managers.js';
import type { Storage, StoredObject } from '../../../storage/storage.interface.js';
import type { PolicyResource } from './bootstrap/ensure-policy.js';
import { type AnyBinding, CompiledBinding } from './compiled-binding.js';
import { CompiledRole } from './compiled-role.js';
import type { AnyRole, PlacedRole, PolicyIndex, RoleKind } from './policy-index.js';

/** The rules of roles with more text than this, in characters, are packed. */
const largestPlain = 16 * 1024;

export interface PolicyInformerOptions {
  readonly storage: Storage;
  readonly registry: StoredResources;
  /** Served name of the RBAC group. */
  readonly group: string;
  /** Called when the informer lost its place in the change log of a resource; the index is then filled again. */
  readonly onFault: (resource: string, error: unknown) => void;
}

/** Keeps a {@link PolicyIndex} up to date with the roles and bindings in the store. */
export class PolicyInformer {
  private readonly reflectors: ReadonlyMap<PolicyResource, Reflector>;
  private readonly sinks: Readonly<Record<PolicyResource, OrderedSink>>;

  constructor(
    private readonly options: PolicyInformerOptions,
    private readonly index: PolicyIndex,
  ) {
    const { storage, registry, group, onFault } = options;
    this.sinks = {
      roles: new OrderedSink(roleSink(index, 'Role')),
      clusterroles: new OrderedSink(roleSink(index, 'ClusterRole')),
      rolebindings: new OrderedSink(bindingSink(index, true)),
      clusterrolebindings: new OrderedSink(bindingSink(index, false)),
    };
    const reflect = (resource: PolicyResource) => {
      const fault = (error: unknown) => onFault(resource, error);
      const place = formatGroupResource({ group, resource });
      return [resource, new Reflector(storage, registry, place, this.sinks[resource], fault)] as const;
    };
    this.reflectors = new Map((['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'] as const).map(reflect));
  }

  /** Resolves when the index has been filled. It follows the store until the signal is aborted. */
  async start(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.reflectors.values()].map((reflector) => reflector.start(signal)));
  }

  async stopped(): Promise<void> {
    await Promise.all([...this.reflectors.values()].map((reflector) => reflector.stopped()));
  }

  /** Resolves when the index contains the objects of these versions, and all older ones. */
  async reached(versions: ReadonlyMap<PolicyResource, bigint>): Promise<void> {
    await Promise.all([...versions].map(([resource, version]) => this.reflectors.get(resource)?.reached(version)));
  }

  /**
   * Reads the roles and bindings of a namespace that found no room before, as long as there is room now. Changes that
   * happen meanwhile come from the change log.
   */
  async readLeftOut(namespace: string, signal: AbortSignal): Promise<void> {
    const { memory } = this.index;
    for (const [key, mark] of memory.leftOutOf(namespace)) {
      const [kind = '', , name = ''] = key.split('/');
      const resource = kind === '' ? 'rolebindings' : 'roles';
      const place = formatGroupResource({ group: this.options.group, resource });
      const stored = await this.options.storage.get({ resource: place, namespace, name });
      if (signal.aborted) return;
      if (stored === undefined) continue;
      const object = await readWithoutManagers(this.options.registry, stored);
      await this.sinks[resource].setLater(object, stored, () => memory.isStillLeftOut(namespace, key, mark));
      if (memory.leftOutOf(namespace).has(key)) return;
    }
  }

  /** For how long a revocation may have been missed, in milliseconds. */
  get lostForMs(): number {
    let longest = 0;
    for (const { lostForMs } of this.reflectors.values()) if (lostForMs > longest) longest = lostForMs;
    return longest;
  }
}

/** A role or binding in the form in which the index takes it, in place of the object that it was made of. */
type Reduced<T> = ApiObject & { readonly compiled: T };

/** The objects that a sink receives have been reduced before. */
function compiledOf<T>(object: ApiObject): T {
  return (object as Reduced<T>).compiled;
}

function reduced<T>({ metadata, ...rest }: ApiObject, compiled: T): Reduced<T> {
  const { apiVersion, kind } = rest;
  return { apiVersion, kind, metadata: { name: metadata.name, namespace: metadata.namespace }, compiled } as Reduced<T>;
}

interface PolicySink extends ObjectSink {
  /** The object in compiled form. */
  compile(object: ApiObject, size: number): Promise<ApiObject>;
  reduce(object: ApiObject, resourceVersion: bigint, size: number): Promise<ApiObject>;
}

function roleSink(index: PolicyIndex, kind: RoleKind): PolicySink {
  const compile = async (object: ApiObject, size: number) => {
    const { metadata, rules } = object as ApiObject as AnyRole;
    const role = await inTurns(CompiledRole.inSteps(rules ?? []));
    if (size > largestPlain) role.pack(await sharedParts.pack(rules ?? []));
    return reduced<PlacedRole>(object, { namespace: metadata.namespace ?? '', name: metadata.name ?? '', role });
  };
  return {
    compile,
    reduce: async (object, _version, size) => {
      const { compiled } = await compile(object, size);
      return reduced(object, index.admittedRole(compiled, kind));
    },
    replace: (objects) => inTurns(index.replacingRoles(objects.map(compiledOf<PlacedRole>), kind)),
    set: (object) => index.placeRole(compiledOf(object), kind),
    delete: (namespace, name) => index.deleteRole(kind, namespace, name),
  };
}

function bindingSink(index: PolicyIndex, isNamespaced: boolean): PolicySink {
  const compile = async (object: ApiObject) =>
    reduced(object, await inTurns(CompiledBinding.inSteps(object as ApiObject as AnyBinding)));
  return {
    compile,
    reduce: async (object) => reduced(object, index.admittedBinding((await compile(object)).compiled)),
    replace: (objects) => inTurns(index.replacingBindings(objects.map(compiledOf<CompiledBinding>), isNamespaced)),
    set: (object) => inTurns(index.placingBinding(compiledOf(object))),
    delete: (namespace, name) => inTurns(index.deletingBinding(namespace, name)),
  };
}

/** A sink whose calls come from two sides: none begins before the last one has completed. */
class OrderedSink implements ObjectSink {
  private last: Promise<void> = Promise.resolve();

  constructor(private readonly sink: PolicySink) {}

  reduce(object: ApiObject, resourceVersion: bigint, size: number): Promise<ApiObject> {
    return this.sink.reduce(object, resourceVersion, size);
  }

  replace(objects: readonly ApiObject[], resourceVersion: bigint): Promise<void> {
    return this.next(() => this.sink.replace(objects, resourceVersion));
  }

  set(object: ApiObject, resourceVersion: bigint): Promise<void> {
    return this.next(() => this.sink.set(object, resourceVersion));
  }

  /** Sets an object unless, when its turn comes, that is no longer wanted. */
  async setLater(object: ApiObject, stored: StoredObject, isWanted: () => boolean): Promise<void> {
    const compiled = await this.sink.compile(object, stored.json.length);
    await this.next(() => (isWanted() ? this.sink.set(compiled, stored.resourceVersion) : undefined));
  }

  delete(namespace: string, name: string, resourceVersion: bigint): Promise<void> {
    return this.next(() => this.sink.delete(namespace, name, resourceVersion));
  }

  private next(work: () => void | Promise<void>): Promise<void> {
    const done = this.last.then(work);
    this.last = done.catch(() => undefined);
    return done;
  }
}
