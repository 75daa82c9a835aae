import type { Deployment } from '../../../objects/apis/apps/v1/deployment.types.js';
import { applyPodSpecDefaults } from '../../../objects/apis/core/v1/defaults/pod-spec.defaults.js';
import { podNameWarnings, templateWarnings } from '../../../objects/apis/core/v1/template-warnings.js';
import type { PodValidationOptions } from '../../../objects/apis/core/v1/validation/common.validation.js';
import type { Strategy } from '../../../objects/registry/strategy.js';
import { validateDeployment, validateDeploymentUpdate } from './deployment.validation.js';

/** Rules of deployments. */
export function deploymentStrategy(options: PodValidationOptions): Strategy<Deployment> {
  return {
    applyDefaults({ spec }) {
      applyPodSpecDefaults(spec.template.spec);
      spec.replicas ??= 1;
      const { strategy } = spec;
      strategy.type ||= 'RollingUpdate';
      if (strategy.type === 'RollingUpdate') {
        strategy.rollingUpdate ??= {};
        strategy.rollingUpdate.maxUnavailable ??= '25%';
        strategy.rollingUpdate.maxSurge ??= '25%';
      }
      spec.revisionHistoryLimit ??= 10;
      spec.progressDeadlineSeconds ??= 600;
    },

    prepareForCreate(_context, object) {
      object.status = {};
    },

    validate: (_context, object) => validateDeployment(object, options),
    validateUpdate: (_context, object, old) => validateDeploymentUpdate(object, old, options),
    warnings: (_context, object, old) => [
      ...podNameWarnings(object.metadata, old),
      ...templateWarnings(object, old, options.names),
    ],
  };
}
