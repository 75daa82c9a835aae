import type { Service } from '../../../../objects/apis/core/v1/service.types.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { isFor, refused } from '../../refused.js';

/** Refuses new external addresses of services; existing ones may stay and may be removed (specification 5.5). */
export class DenyServiceExternalIPs implements AdmissionPlugin {
  readonly name = 'DenyServiceExternalIPs';

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE' || operation === 'UPDATE';
  }

  validate(attributes: AdmissionAttributes): void {
    if (!isFor(attributes, '', 'services')) return;
    const before = new Set((attributes.storedOldObject as Service | undefined)?.spec.externalIPs ?? []);
    const addresses = (attributes.storedObject as Service | undefined)?.spec?.externalIPs ?? [];
    if (addresses.every((address) => before.has(address))) return;
    throw refused(attributes, 'Use of external IPs is denied by admission control');
  }
}
