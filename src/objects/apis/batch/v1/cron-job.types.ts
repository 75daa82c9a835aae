import {
  always,
  bool,
  enumOf,
  type Infer,
  int32,
  int64,
  kind,
  list,
  optional,
  pointer,
  required,
  string,
  struct,
  time,
} from '../../../../base/machinery/schema/index.js';
import { objectReference } from '../../core/v1/reference.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { jobTemplateSpec } from './job.types.js';

export const concurrencyPolicy = enumOf('Allow', 'Forbid', 'Replace');
export type ConcurrencyPolicy = Infer<typeof concurrencyPolicy>;

export const cronJobSpec = struct(
  'batch.v1.CronJobSpec',
  {
    schedule: required(1, string, { doc: 'Minute, hour, day, month and weekday, as cron has them.' }),
    timeZone: pointer(8, string, { doc: 'Name of the time zone of the schedule.' }),
    startingDeadlineSeconds: pointer(2, int64, { doc: 'How late a run may still start, in seconds.' }),
    concurrencyPolicy: optional(3, concurrencyPolicy, {
      doc: 'What to do while the last run goes on: Allow, Forbid or Replace.',
    }),
    suspend: pointer(4, bool, { doc: 'Whether no more runs start.' }),
    jobTemplate: required(5, jobTemplateSpec, { doc: 'Description of the jobs.' }),
    successfulJobsHistoryLimit: pointer(6, int32, { doc: 'Succeeded jobs to keep.' }),
    failedJobsHistoryLimit: pointer(7, int32, { doc: 'Failed jobs to keep.' }),
  },
  { doc: 'What to run and when.' },
);
export type CronJobSpec = Infer<typeof cronJobSpec>;

export const cronJobStatus = struct('batch.v1.CronJobStatus', {
  active: optional(1, list(objectReference), { doc: 'Jobs that run.' }),
  lastScheduleTime: pointer(4, time, { doc: 'When a run was last due.' }),
  lastSuccessfulTime: pointer(5, time, { doc: 'When a run last succeeded.' }),
});
export type CronJobStatus = Infer<typeof cronJobStatus>;

export const cronJob = kind(
  { group: 'batch', version: 'v1', kind: 'CronJob', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, cronJobSpec),
    status: always(3, cronJobStatus),
  },
  { doc: 'Makes a job again and again, by a schedule.' },
);
export type CronJob = Infer<typeof cronJob>;

export const cronJobList = listKind(cronJob);
export type CronJobList = Infer<typeof cronJobList>;
