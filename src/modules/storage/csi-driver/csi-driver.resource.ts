import { isDeepStrictEqual } from 'node:util';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { type CSIDriver, csiDriver } from '../../../objects/apis/storage/v1/csi-driver.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import { applyCsiDriverDefaults, validateCsiDriver, validateCsiDriverUpdate } from './csi-driver.validation.js';

const columns: readonly TableColumn<CSIDriver>[] = [
  nameColumn,
  {
    name: 'AttachRequired',
    type: 'boolean',
    description: 'Whether volumes are attached to nodes before use.',
    cell: (object) => object.spec.attachRequired ?? true,
  },
  {
    name: 'PodInfoOnMount',
    type: 'boolean',
    description: 'Whether the driver wants to know the pod that mounts.',
    cell: (object) => object.spec.podInfoOnMount ?? false,
  },
  {
    name: 'StorageCapacity',
    type: 'boolean',
    description: 'Whether the driver reports the room that is left.',
    cell: (object) => object.spec.storageCapacity ?? false,
  },
  {
    name: 'TokenRequests',
    type: 'string',
    description: 'Audiences of the tokens that the driver wants.',
    cell: ({ spec }) => spec.tokenRequests?.map(({ audience }) => audience).join(',') ?? '<unset>',
  },
  {
    name: 'RequiresRepublish',
    type: 'boolean',
    description: 'Whether volumes are mounted again from time to time.',
    cell: (object) => object.spec.requiresRepublish ?? false,
  },
  {
    name: 'Modes',
    type: 'string',
    description: 'Lifecycles of volumes the driver supports.',
    cell: (object) => (object.spec.volumeLifecycleModes ?? []).join(',') || '<none>',
  },
  ageColumn,
];

const unsetWarning =
  'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes';

/** `csidrivers`: storage drivers and what they need. */
export function csiDriverResource(names: VendorNames): ResourceDefinition {
  return defineResource<CSIDriver>({
    group: groupName('storage', names),
    resource: 'csidrivers',
    singular: 'csidriver',
    kind: 'CSIDriver',
    namespaced: false,
    // Revision 1: older objects lack defaults that were added later.
    defaultsRevision: 1,
    versions: [{ version: 'v1', type: csiDriver }],
    strategyOptions: { allowUnconditionalUpdate: false, returnsDeletedObject: true },
    strategy: {
      applyDefaults: applyCsiDriverDefaults,
      // A new driver has no generation; changes count from there.
      prepareForUpdate: (_context, object, old) => {
        if (!isDeepStrictEqual(object.spec, old.spec)) {
          object.metadata.generation = (old.metadata.generation ?? 0) + 1;
        }
      },
      validate: (_context, object) => validateCsiDriver(object),
      validateUpdate: (_context, object, old) => validateCsiDriverUpdate(object, old),
      warnings: (_context, { spec }) =>
        (spec.tokenRequests ?? []).length > 0 && spec.serviceAccountTokenInSecrets === undefined ? [unsetWarning] : [],
    },
    columns,
  });
}
