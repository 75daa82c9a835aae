import { always, type Infer, kind } from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { cronJobSpec, cronJobStatus } from '../v1/cron-job.types.js';

export const cronJob = kind(
  { group: 'batch', version: 'v1beta1', kind: 'CronJob', scope: 'Namespaced' },
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
