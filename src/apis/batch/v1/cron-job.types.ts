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
} from '../../../machinery/schema/index.js';
import { objectReference } from '../../core/v1/reference.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { jobTemplateSpec } from './job.types.js';

export const concurrencyPolicy = enumOf('Allow', 'Forbid', 'Replace');
export type ConcurrencyPolicy = Infer<typeof concurrencyPolicy>;

export const cronJobSpec = struct('batch.v1.CronJobSpec', {
  schedule: required(1, string),
  timeZone: pointer(8, string),
  startingDeadlineSeconds: pointer(2, int64),
  concurrencyPolicy: optional(3, concurrencyPolicy),
  suspend: pointer(4, bool),
  jobTemplate: required(5, jobTemplateSpec),
  successfulJobsHistoryLimit: pointer(6, int32),
  failedJobsHistoryLimit: pointer(7, int32),
});
export type CronJobSpec = Infer<typeof cronJobSpec>;

export const cronJobStatus = struct('batch.v1.CronJobStatus', {
  active: optional(1, list(objectReference)),
  lastScheduleTime: pointer(4, time),
  lastSuccessfulTime: pointer(5, time),
});
export type CronJobStatus = Infer<typeof cronJobStatus>;

export const cronJob = kind(
  { group: 'batch', version: 'v1', kind: 'CronJob', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, cronJobSpec),
    status: always(3, cronJobStatus),
  },
);
export type CronJob = Infer<typeof cronJob>;

export const cronJobList = listKind(cronJob);
export type CronJobList = Infer<typeof cronJobList>;
