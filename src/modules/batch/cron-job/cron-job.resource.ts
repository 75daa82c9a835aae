import type { ApiObject } from '../../../base/machinery/api-object.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { type CronJob, cronJob } from '../../../objects/apis/batch/v1/cron-job.types.js';
import { cronJob as cronJobV1beta1 } from '../../../objects/apis/batch/v1beta1/cron-job.types.js';
import { ageColumn, nameColumn, since } from '../../../objects/registry/definition/default-columns.js';
import { statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import { deprecation } from '../../../objects/registry/definition/served-version.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import { jobTemplateColumns } from '../template-columns.js';
import { applyCronJobDefaults, cronJobStrategy } from './cron-job.strategy.js';

/** Cron jobs: jobs that are started repeatedly at set times. */
export function cronJobResource(names: VendorNames): ResourceDefinition {
  return defineResource<CronJob>({
    group: groupName('batch', names),
    resource: 'cronjobs',
    singular: 'cronjob',
    kind: 'CronJob',
    namespaced: true,
    shortNames: ['cj'],
    categories: ['all'],
    // Raised because stored templates once had an empty creationTimestamp.
    defaultsRevision: 1,
    versions: [
      { version: 'v1', type: cronJob },
      {
        version: 'v1beta1',
        type: cronJobV1beta1,
        applyDefaults: (object: ApiObject) => applyCronJobDefaults(object as unknown as CronJob),
        deprecated: deprecation({
          group: groupName('batch', names),
          version: 'v1beta1',
          kind: 'CronJob',
          since: '1.21',
          removed: '1.25',
          replacement: 'v1',
        }),
      },
    ],
    strategy: cronJobStrategy({ names }),
    strategyOptions: { generation: 'spec' },
    columns,
    subresources: [statusSubresource<CronJob>()],
  });
}

const columns: readonly TableColumn<CronJob>[] = [
  nameColumn,
  {
    name: 'Schedule',
    type: 'string',
    description: 'The times, in cron form.',
    cell: ({ spec }) => spec.schedule,
  },
  {
    name: 'Timezone',
    type: 'string',
    description: 'Time zone of the times.',
    cell: ({ spec }) => spec.timeZone ?? '<none>',
  },
  {
    name: 'Suspend',
    type: 'boolean',
    description: 'Whether no jobs are started for now.',
    cell: ({ spec }) => (spec.suspend === undefined ? '<unset>' : spec.suspend ? 'True' : 'False'),
  },
  {
    name: 'Active',
    type: 'integer',
    description: 'Jobs that are running.',
    cell: ({ status }) => status.active?.length ?? 0,
  },
  {
    name: 'Last Schedule',
    type: 'string',
    description: 'Time since the last job was started.',
    cell: ({ status }) => (status.lastScheduleTime ? since(status.lastScheduleTime) : '<none>'),
  },
  ageColumn,
  ...jobTemplateColumns<CronJob>(({ spec }) => spec.jobTemplate.spec),
];
