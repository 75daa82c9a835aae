import { isDns1123Label } from '../../../base/machinery/names.js';
import type { StatefulSet } from '../../../objects/apis/apps/v1/stateful-set.types.js';
import { applyPodSpecDefaults } from '../../../objects/apis/core/v1/defaults/pod-spec.defaults.js';
import { roundResources } from '../../../objects/apis/core/v1/defaults/resources.defaults.js';
import { fractionalBytes } from '../../../objects/apis/core/v1/fractional-bytes.js';
import type { PersistentVolumeClaim } from '../../../objects/apis/core/v1/persistent-volume-claim.types.js';
import { podNameWarnings, templateWarnings } from '../../../objects/apis/core/v1/template-warnings.js';
import type { PodValidationOptions } from '../../../objects/apis/core/v1/validation/common.validation.js';
import { maskTrailingDash } from '../../../objects/registry/metadata/before-create.js';
import type { Strategy } from '../../../objects/registry/strategy.js';
import { validateNewStatefulSet, validateStatefulSetUpdate } from './stateful-set.validation.js';

/** Rules of stateful sets. */
export function statefulSetStrategy(options: PodValidationOptions): Strategy<StatefulSet> {
  return {
    applyDefaults({ spec }) {
      applyPodSpecDefaults(spec.template.spec);
      spec.podManagementPolicy ||= 'OrderedReady';
      const { updateStrategy } = spec;
      if (!updateStrategy.type) {
        updateStrategy.type = 'RollingUpdate';
        updateStrategy.rollingUpdate ??= {};
      }
      // A set that names the type alone keeps no numbers of it.
      if (updateStrategy.type === 'RollingUpdate' && updateStrategy.rollingUpdate !== undefined) {
        updateStrategy.rollingUpdate.partition ??= 0;
        updateStrategy.rollingUpdate.maxUnavailable ??= 1;
      }
      spec.replicas ??= 1;
      spec.revisionHistoryLimit ??= 10;
      spec.persistentVolumeClaimRetentionPolicy ??= {};
      spec.persistentVolumeClaimRetentionPolicy.whenDeleted ||= 'Retain';
      spec.persistentVolumeClaimRetentionPolicy.whenScaled ||= 'Retain';
      for (const claim of spec.volumeClaimTemplates ?? []) applyClaimDefaults(claim);
    },

    // The pods of a set are named after it, and their names are host names.
    validateName: (name, prefix) => isDns1123Label(prefix ? maskTrailingDash(name) : name),

    prepareForCreate(_context, object) {
      object.status = { replicas: 0, availableReplicas: 0 };
    },

    validate: (_context, object) => validateNewStatefulSet(object, options),
    validateUpdate: (_context, object, old) => validateStatefulSetUpdate(object, old, options),
    warnings: (_context, object, old) => [
      ...podNameWarnings(object.metadata, old),
      ...templateWarnings(object, old, options.names),
      ...(object.spec.volumeClaimTemplates ?? []).flatMap(({ spec }, i) =>
        fractionalBytes(
          spec.resources.requests?.storage,
          `spec.volumeClaimTemplates[${i}].resources.requests[storage]`,
        ),
      ),
      ...(Number(object.spec.revisionHistoryLimit) < 0
        ? ['spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended']
        : []),
    ],
  };
}

function applyClaimDefaults(claim: PersistentVolumeClaim): void {
  claim.kind = 'PersistentVolumeClaim';
  claim.apiVersion = 'v1';
  claim.status.phase ||= 'Pending';
  claim.spec.volumeMode ??= 'Filesystem';
  roundResources(claim.spec.resources.limits);
  roundResources(claim.spec.resources.requests);
}
