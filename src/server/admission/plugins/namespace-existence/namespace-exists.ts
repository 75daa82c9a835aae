import { notFoundError } from '../../../../base/machinery/status-error.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { isFor } from '../../refused.js';
import type { NamespaceLookup } from '../namespace-lifecycle/namespace-lifecycle.js';

/** Refuses every write in a missing namespace (specification 5.5). */
export class NamespaceExists implements AdmissionPlugin {
  readonly name = 'NamespaceExists';

  constructor(private readonly namespaces: NamespaceLookup) {}

  handles(operation: AdmissionOperation): boolean {
    return operation !== 'CONNECT';
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    const { namespace } = attributes;
    if (isFor(attributes, '', 'namespaces')) return;
    await this.admitCollection(namespace);
  }

  async admitCollection(namespace: string): Promise<void> {
    if (namespace === '') return;
    const looked = this.namespaces.state(namespace);
    const state = typeof looked === 'string' ? looked : await looked;
    if (state === 'missing') throw notFoundError({ group: '', resource: 'namespaces' }, namespace);
  }
}
