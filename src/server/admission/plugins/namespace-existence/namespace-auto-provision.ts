import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { isFor } from '../../refused.js';
import type { NamespaceLookup } from '../namespace-lifecycle/namespace-lifecycle.js';

/**
 * Creates the missing namespace of a new object (specification 5.5). It stays even if the object is refused afterwards.
 */
export class NamespaceAutoProvision implements AdmissionPlugin {
  readonly name = 'NamespaceAutoProvision';

  /** @param create makes the namespace unless it exists; safe for several processes at once. */
  constructor(
    private readonly namespaces: NamespaceLookup,
    private readonly create: (namespace: string) => Promise<void>,
  ) {}

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE';
  }

  async admit(attributes: AdmissionAttributes): Promise<void> {
    const { namespace, dryRun, resource } = attributes;
    if (dryRun || namespace === '' || isFor(attributes, '', 'namespaces')) return;
    // An access review is not stored in the namespace.
    if (resource.resource === 'localsubjectaccessreviews') return;
    const looked = this.namespaces.state(namespace);
    const state = typeof looked === 'string' ? looked : await looked;
    if (state === 'missing') await this.create(namespace);
  }
}
