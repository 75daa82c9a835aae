import type { Clock } from '../../../base/machinery/clock.js';
import { FieldPath } from '../../../base/machinery/field-error.js';
import { inTurns } from '../../../base/machinery/turns.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { CustomResourceDefinition } from '../../../objects/apis/apiextensions/v1/custom-resource-definition.types.js';
import { cleanupFinalizer } from '../../../objects/custom-resources/definition/cleanup-finalizer.js';
import { setCondition } from '../../../objects/custom-resources/definition/definition-conditions.js';
import type { Strategy } from '../../../objects/registry/strategy.js';
import { applyDefinitionDefaults } from './custom-resource-definition.defaults.js';
import { definitionErrors, definitionUpdateErrors } from './custom-resource-definition.validation.js';
import { definitionWarnings } from './definition-warnings.js';
import { judgeSchemas } from './version-schemas.validation.js';

/** The rules of definitions: the status belongs to the control loops, and a deletion waits for the clean-up. */
export function customResourceDefinitionStrategy(names: VendorNames, clock: Clock): Strategy<CustomResourceDefinition> {
  const finalizer = cleanupFinalizer(names);
  return {
    applyDefaults: (object) => {
      applyDefinitionDefaults(object.spec);
      // A status emptied through the status path keeps the version in which objects are stored.
      if ((object.status.storedVersions ?? []).length === 0) recordStoredVersion(object);
      object.status.conditions ??= [];
    },

    // Validation can't wait, so the long part of it is done here.
    authorizeWrite: (_context, { spec }, old) => inTurns(judgeSchemas(spec, old?.spec, specPath)),

    prepareForCreate: (_context, object) => {
      // As in release 1.37, the response to the create shows null instead of empty conditions.
      object.status = { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: null };
      recordStoredVersion(object);
    },

    warnings: (_context, object, old) => definitionWarnings(object, old),

    validate: (_context, object) => definitionErrors(object, names),

    prepareForUpdate: (_context, object) => recordStoredVersion(object),

    validateUpdate: (_context, object, old) => definitionUpdateErrors(object, old, names),

    prepareForDelete: (_context, object) => {
      const { metadata } = object;
      if (metadata.finalizers?.includes(finalizer) !== true) {
        metadata.finalizers = [...(metadata.finalizers ?? []), finalizer];
      }
      const status = { ...object.status };
      setCondition(status, deletionPending, clock.now());
      object.status = status;
    },

    // Even without finalizers, the first delete only marks the definition: the objects of the kind are deleted first.
    deletionBlocked: ({ metadata }) => metadata.deletionTimestamp === undefined,
  };
}

const specPath = FieldPath.of('spec');

const deletionPending = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionPending',
  message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
} as const;

/** Objects may be stored in the storage version from now on, so it stays on record until someone removes it. */
function recordStoredVersion({ spec, status }: CustomResourceDefinition): void {
  const stored = spec.versions?.find(({ storage }) => storage);
  if (stored === undefined || status.storedVersions?.includes(stored.name) === true) return;
  status.storedVersions = [...(status.storedVersions ?? []), stored.name];
}
