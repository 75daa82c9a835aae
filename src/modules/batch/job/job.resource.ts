import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { type Job, job } from '../../../objects/apis/batch/v1/job.types.js';
import { ageColumn, humanDuration, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import { defineResource, type ResourceDefinition, Since } from '../../../objects/registry/resource-definition.js';
import { jobTemplateColumns } from '../template-columns.js';
import { jobStrategy } from './job.strategy.js';
import { validateJobStatus } from './job-status.validation.js';

const orphanWarning =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set ' +
  'propagationPolicy=Orphan to suppress this warning';

/** Jobs: pods that run to completion. */
export function jobResource(names: VendorNames): ResourceDefinition {
  return defineResource<Job>({
    group: groupName('batch', names),
    resource: 'jobs',
    singular: 'job',
    kind: 'Job',
    namespaced: true,
    categories: ['all'],
    // Raised because templates once had an empty creationTimestamp, and again because jobs once had fewer defaults.
    defaultsRevision: 2,
    versions: [{ version: 'v1', type: job }],
    strategy: jobStrategy({ names }),
    strategyOptions: { dependents: 'orphaned', orphanWarning, generation: 'spec' },
    selectableFieldNames: ['status.successful'],
    unselectable: (field) => `field label ${JSON.stringify(field)} not supported for Job`,
    selectableFields: ({ status }) => ({ 'status.successful': String(status.succeeded ?? 0) }),
    columns: [
      nameColumn,
      { name: 'Status', type: 'string', description: 'How far it is.', cell: statusOf },
      {
        name: 'Completions',
        type: 'string',
        description: 'Pods that ended well, of those wanted.',
        cell: completionsOf,
      },
      {
        name: 'Duration',
        type: 'string',
        description: 'Time from the start to the end, or until now.',
        cell: ({ status }) => {
          if (!status.startTime) return '';
          const start = Date.parse(status.startTime);
          return status.completionTime ? humanDuration(Date.parse(status.completionTime) - start) : new Since(start);
        },
      },
      ageColumn,
      ...jobTemplateColumns<Job>(({ spec }) => spec),
    ],
    subresources: [statusSubresource<Job>({ validate: validateJobStatus })],
  });
}

function statusOf({ metadata, status }: Job): string {
  const holds = (type: string) => status.conditions?.some((one) => one.type === type && one.status === 'True') === true;
  if (holds('Complete')) return 'Complete';
  if (holds('Failed')) return 'Failed';
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find(holds) ?? 'Running';
}

function completionsOf({ spec, status }: Job): string {
  const succeeded = status.succeeded ?? 0;
  if (spec.completions !== undefined) return `${succeeded}/${spec.completions}`;
  const parallelism = spec.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}
