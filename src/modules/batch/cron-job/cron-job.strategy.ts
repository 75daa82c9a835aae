import type { CronJob } from '../../../objects/apis/batch/v1/cron-job.types.js';
import { podWarnings } from '../../../objects/apis/core/v1/pod-warnings.js';
import { podNameWarnings } from '../../../objects/apis/core/v1/template-warnings.js';
import type { PodValidationOptions } from '../../../objects/apis/core/v1/validation/common.validation.js';
import type { Strategy } from '../../../objects/registry/strategy.js';
import { applyJobTemplateDefaults } from '../job/job.defaults.js';
import { validateCronJob, validateCronJobUpdate } from './cron-job.validation.js';

/** Fills in the defaults of a cron job. Changes the object. */
export function applyCronJobDefaults({ spec }: CronJob): void {
  spec.concurrencyPolicy ||= 'Allow';
  spec.suspend ??= false;
  spec.successfulJobsHistoryLimit ??= 3;
  spec.failedJobsHistoryLimit ??= 1;
  applyJobTemplateDefaults(spec.jobTemplate.spec);
}

/** Rules of cron jobs. */
export function cronJobStrategy(options: PodValidationOptions): Strategy<CronJob> {
  return {
    applyDefaults: applyCronJobDefaults,

    prepareForCreate(_context, object) {
      object.status = {};
    },

    validate: (_context, object) => validateCronJob(object, options),
    validateUpdate: (_context, object, old) => validateCronJobUpdate(object, old, options),

    warnings(_context, { metadata, spec }, old) {
      if (old !== undefined && old.metadata.generation === metadata.generation) return [];
      return [
        ...podNameWarnings(metadata, old),
        ...podWarnings(spec.jobTemplate.spec.template, 'spec.jobTemplate.spec.template.', options.names),
      ];
    },
  };
}
