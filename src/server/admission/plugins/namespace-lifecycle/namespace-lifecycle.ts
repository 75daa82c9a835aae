import { forbiddenError, notFoundError } from '../../../../base/machinery/status-error.js';
import type { VendorNames } from '../../../../base/machinery/vendor.js';
import { terminatingNamespaceError } from '../../../../objects/registry/store/to-status-error.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';

export type NamespaceState = 'active' | 'terminating' | 'missing';

/** Whether a namespace accepts new objects. It must know every namespace written before the request began. */
export interface NamespaceLookup {
  state(namespace: string): Promise<NamespaceState> | NamespaceState;
}

const namespaces = { group: '', resource: 'namespaces' };

/**
 * Refuses new objects in missing and terminating namespaces, also tokens, evictions and bindings of objects that are
 * there, and the deletion of the system's own namespaces (specification 5.5).
 */
export class NamespaceLifecycle implements AdmissionPlugin {
  readonly name = 'NamespaceLifecycle';
  private readonly immortal: ReadonlySet<string>;

  constructor(
    private readonly lookup: NamespaceLookup,
    names: VendorNames,
  ) {
    this.immortal = new Set(['default', names.systemNamespace, names.publicNamespace]);
  }

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE' || operation === 'DELETE';
  }

  // Runs in the mutating phase, so a missing namespace is reported before any problem of the object itself.
  async admit(attributes: AdmissionAttributes): Promise<void> {
    const { resource, namespace, name } = attributes;
    const isNamespace = resource.group === '' && resource.resource === 'namespaces';
    if (attributes.operation === 'DELETE') {
      if (isNamespace && attributes.subresource === '' && this.immortal.has(name)) {
        throw forbiddenError(namespaces, name, 'this namespace may not be deleted');
      }
      return;
    }
    if (isNamespace || namespace === '') return;
    // Access reviews are not objects that live in the namespace.
    if (resource.resource === 'localsubjectaccessreviews') return;
    const looked = this.lookup.state(namespace);
    const state = typeof looked === 'string' ? looked : await looked;
    if (state === 'missing') throw notFoundError(namespaces, namespace);
    if (state === 'terminating') {
      throw terminatingNamespaceError(resource, name, namespace);
    }
  }
}
