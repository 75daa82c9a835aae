import { applyPodSpecDefaults } from '../../../objects/apis/core/v1/defaults/pod-spec.defaults.js';
import { podWarnings } from '../../../objects/apis/core/v1/pod-warnings.js';
import type { ReplicationController } from '../../../objects/apis/core/v1/replication-controller.types.js';
import { podNameWarnings } from '../../../objects/apis/core/v1/template-warnings.js';
import type { PodValidationOptions } from '../../../objects/apis/core/v1/validation/common.validation.js';
import { updateOptions } from '../../../objects/apis/core/v1/validation/update-options.js';
import type { Strategy } from '../../../objects/registry/strategy.js';
import { validateReplicationController } from './replication-controller.validation.js';

/** Rules of replication controllers. */
export function replicationControllerStrategy(options: PodValidationOptions): Strategy<ReplicationController> {
  return {
    applyDefaults(object) {
      const { spec, metadata } = object;
      spec.replicas ??= 1;
      const { template } = spec;
      if (template === undefined) return;
      applyPodSpecDefaults(template.spec);
      const { labels } = template.metadata;
      if (labels === undefined) return;
      if (Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels };
      if (Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels };
    },

    prepareForCreate(_context, object) {
      object.status = { replicas: 0 };
    },

    validate: (_context, object) => validateReplicationController(object, options),
    validateUpdate: (_context, object, old) =>
      validateReplicationController(object, updateOptions(options, old.spec.template?.spec)),

    warnings(_context, { metadata, spec: { template } }, old) {
      if (old !== undefined && old.metadata.generation === metadata.generation) return [];
      const ofTemplate = template === undefined ? [] : podWarnings(template, 'spec.template.', options.names);
      return [...podNameWarnings(metadata, old), ...ofTemplate];
    },
  };
}
