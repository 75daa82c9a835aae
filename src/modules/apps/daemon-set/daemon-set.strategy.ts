import { isDeepStrictEqual } from 'node:util';
import type { DaemonSet } from '../../../objects/apis/apps/v1/daemon-set.types.js';
import { applyPodSpecDefaults } from '../../../objects/apis/core/v1/defaults/pod-spec.defaults.js';
import { templateWarnings } from '../../../objects/apis/core/v1/template-warnings.js';
import type { PodValidationOptions } from '../../../objects/apis/core/v1/validation/common.validation.js';
import type { Strategy } from '../../../objects/registry/strategy.js';
import { validateDaemonSet, validateDaemonSetUpdate } from './daemon-set.validation.js';

/** The annotation that counts the templates that a daemon set has had; older controllers read it. */
const templateGeneration = 'deprecated.daemonset.template.generation';

/** Rules of daemon sets. */
export function daemonSetStrategy(options: PodValidationOptions): Strategy<DaemonSet> {
  return {
    applyDefaults(object) {
      const { spec } = object;
      // Whoever writes a daemon set without the annotation owns it from then on.
      if (object.metadata.annotations?.[templateGeneration] === undefined) setTemplateGeneration(object, 0);
      applyPodSpecDefaults(spec.template.spec);
      const { updateStrategy } = spec;
      updateStrategy.type ||= 'RollingUpdate';
      if (updateStrategy.type === 'RollingUpdate') {
        updateStrategy.rollingUpdate ??= {};
        updateStrategy.rollingUpdate.maxUnavailable ??= 1;
        updateStrategy.rollingUpdate.maxSurge ??= 0;
      } else if (updateStrategy.rollingUpdate !== undefined) {
        updateStrategy.rollingUpdate.maxUnavailable ??= 0;
        updateStrategy.rollingUpdate.maxSurge ??= 0;
      }
      spec.revisionHistoryLimit ??= 10;
    },

    prepareForCreate(_context, object) {
      object.status = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 };
      setTemplateGeneration(object, Math.max(templateGenerationOf(object), 1));
    },

    prepareForUpdate(_context, object, old) {
      const isChanged = !isDeepStrictEqual(object.spec.template, old.spec.template);
      setTemplateGeneration(object, templateGenerationOf(old) + (isChanged ? 1 : 0));
    },

    validate: (_context, object) => validateDaemonSet(object, options),
    validateUpdate: (_context, object, old) => validateDaemonSetUpdate(object, old, options),
    warnings: (_context, object, old) => templateWarnings(object, old, options.names),
  };
}

function templateGenerationOf({ metadata }: DaemonSet): number {
  const text = metadata.annotations?.[templateGeneration] ?? '';
  return /^[+-]?\d{1,15}$/.test(text) ? Number(text) : 0;
}

function setTemplateGeneration({ metadata }: DaemonSet, generation: number): void {
  metadata.annotations = { ...metadata.annotations, [templateGeneration]: String(generation) };
}
