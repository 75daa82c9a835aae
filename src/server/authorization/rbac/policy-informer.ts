import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatGroupResource } from '../../../base/machinery/group-version.js';
import { inTurns } from '../../../base/machinery/turns.js';
import { type ObjectSink, Reflector } from '../../../objects/registry/informers/reflector.js';
import type { StoredResources } from '../../../objects/registry/store/object-codec.js';
import type { Storage } from '../../../storage/storage.interface.js';
import type { PolicyResource } from './bootstrap/ensure-policy.js';
import type { AnyBinding, AnyRole, PolicyIndex } from './policy-index.js';

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

  constructor({ storage, registry, group, onFault }: PolicyInformerOptions, index: PolicyIndex) {
    const reflect = (resource: PolicyResource, sink: ObjectSink) => {
      const fault = (error: unknown) => onFault(resource, error);
      return [
        resource,
        new Reflector(storage, registry, formatGroupResource({ group, resource }), sink, fault),
      ] as const;
    };
    this.reflectors = new Map([
      reflect('roles', roleSink(index, 'Role')),
      reflect('clusterroles', roleSink(index, 'ClusterRole')),
      reflect('rolebindings', bindingSink(index, true)),
      reflect('clusterrolebindings', bindingSink(index, false)),
    ]);
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

  /** For how long a revocation may have been missed, in milliseconds. */
  get lostForMs(): number {
    let longest = 0;
    for (const { lostForMs } of this.reflectors.values()) if (lostForMs > longest) longest = lostForMs;
    return longest;
  }
}

function roleSink(index: PolicyIndex, kind: 'Role' | 'ClusterRole'): ObjectSink {
  return {
    replace: (objects) => inTurns(index.replacingRoles(objects as readonly ApiObject[] as readonly AnyRole[], kind)),
    set: (object) => inTurns(index.settingRole(object as ApiObject as AnyRole, kind)),
    delete: (namespace, name) => index.deleteRole(kind, namespace, name),
  };
}

function bindingSink(index: PolicyIndex, isNamespaced: boolean): ObjectSink {
  return {
    replace: (objects) =>
      inTurns(index.replacingBindings(objects as readonly ApiObject[] as readonly AnyBinding[], isNamespaced)),
    set: (object) => inTurns(index.settingBinding(object as ApiObject as AnyBinding)),
    delete: (namespace, name) => inTurns(index.deletingBinding(namespace, name)),
  };
}
