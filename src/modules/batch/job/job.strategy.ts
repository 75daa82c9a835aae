import type { Job } from '../../../objects/apis/batch/v1/job.types.js';
import { podNameWarnings, templateWarnings } from '../../../objects/apis/core/v1/template-warnings.js';
import type { PodValidationOptions } from '../../../objects/apis/core/v1/validation/common.validation.js';
import type { Strategy } from '../../../objects/registry/strategy.js';
import { applyJobDefaults } from './job.defaults.js';
import { validateJob, validateJobUpdate } from './job.validation.js';
import { type JobLabels, jobLabels } from './job-labels.js';

/** Rules of jobs. */
export function jobStrategy(options: PodValidationOptions): Strategy<Job> {
  return {
    applyDefaults({ metadata, spec }) {
      applyJobDefaults(spec);
      const { labels } = spec.template.metadata;
      // The same object, until it is known whether labels are generated: the job then has those too.
      if (labels !== undefined && isEmpty(metadata.labels)) metadata.labels = labels;
    },

    prepareForCreate(_context, object) {
      object.status = {};
      if (object.spec.manualSelector !== true) generateSelector(object, jobLabels(options.names));
      const { labels } = object.spec.template.metadata;
      const hasOwn = object.metadata.labels !== labels && !isEmpty(object.metadata.labels);
      if (!hasOwn && labels !== undefined) object.metadata.labels = { ...labels };
    },

    prepareForUpdate(_context, { metadata, spec }) {
      const { labels } = spec.template.metadata;
      if (labels !== undefined && metadata.labels === labels) metadata.labels = { ...labels };
    },

    validate: (_context, object) => validateJob(object, options),
    validateUpdate: (_context, object, old) => validateJobUpdate(object, old, options),
    warnings: (_context, object, old) => [
      ...podNameWarnings(object.metadata, old),
      ...templateWarnings(object, old, options.names),
    ],
  };
}

function isEmpty(labels: Readonly<Record<string, string>> | null | undefined): boolean {
  return Object.keys(labels ?? {}).length === 0;
}

/** Makes the job select its own pods by its uid. Labels that a client chose stay, and validation checks them. */
function generateSelector({ metadata, spec }: Job, names: JobLabels): void {
  const template = spec.template.metadata;
  const labels = template.labels ?? {};
  for (const label of names.name) labels[label] ??= metadata.name ?? '';
  for (const label of names.uid) labels[label] ??= metadata.uid ?? '';
  template.labels = labels;
  const selector = spec.selector ?? {};
  selector.matchLabels ??= {};
  selector.matchLabels[names.uid[0]] ??= metadata.uid ?? '';
  spec.selector = selector;
}
