import type { StatefulSet } from '../../../objects/apis/apps/v1/stateful-set.types.js';
import { applyPodSpecDefaults } from '../../../objects/apis/core/v1/defaults/pod-spec.defaults.js';
import { roundResources } from '../../../objects/apis/core/v1/defaults/resources.defaults.js';
import type { PersistentVolumeClaim } from '../../../objects/apis/core/v1/persistent-volume-claim.types.js';
import type { PodValidationOptions } from '../../../objects/apis/core/v1/validation/common.validation.js';
import type { Strategy } from '../../../objects/registry/strategy.js';
import { validateStatefulSet, validateStatefulSetUpdate } from './stateful-set.validation.js';

/** Rules of stateful sets. */
export function statefulSetStrategy(options: PodValidationOptions): Strategy<StatefulSet> {
  return {
    applyDefaults({ spec }) {
      applyPodSpecDefaults(spec.template.spec);
      spec.podManagementPolicy ||= 'OrderedReady';
      const { updateStrategy } = spec;
      updateStrategy.type ||= 'RollingUpdate';
      if (updateStrategy.type === 'RollingUpdate') {
        updateStrategy.rollingUpdate ??= {};
        updateStrategy.rollingUpdate.partition ??= 0;
      }
      spec.replicas ??= 1;
      spec.revisionHistoryLimit ??= 10;
      const retention = spec.persistentVolumeClaimRetentionPolicy;
      if (retention !== undefined) {
        retention.whenDeleted ||= 'Retain';
        retention.whenScaled ||= 'Retain';
      }
      for (const claim of spec.volumeClaimTemplates ?? []) applyClaimDefaults(claim);
    },

    prepareForCreate(_context, object) {
      object.status = { replicas: 0, availableReplicas: 0 };
    },

    validate: (_context, object) => validateStatefulSet(object, options),
    validateUpdate: (_context, object, old) => validateStatefulSetUpdate(object, old, options),
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
