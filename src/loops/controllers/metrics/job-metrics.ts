import { Counter, exponentialBuckets, Histogram, type Registry } from 'prom-client';

/** What a run of the work on a job did to its pods. */
export type JobAction = 'reconciling' | 'tracking' | 'pods_created' | 'pods_deleted';

export type CompletionMode = 'NonIndexed' | 'Indexed';

/** Why a pod of a job is created. */
export type PodCreationReason = 'new' | 'recreate_terminating_or_failed' | 'recreate_failed';

/** Metrics of the job controller, under upstream's names. */
export class JobMetrics {
  private readonly syncs: Counter<'completion_mode' | 'result' | 'action'>;
  private readonly syncTimes: Histogram<'completion_mode' | 'result' | 'action'>;
  private readonly finishedJobs: Counter<'completion_mode' | 'result' | 'reason'>;
  private readonly finishedPods: Counter<'completion_mode' | 'result'>;
  private readonly createdPods: Counter<'reason' | 'status'>;

  constructor(registry: Registry) {
    const registers = [registry];
    const syncLabels = ['completion_mode', 'result', 'action'] as const;
    this.syncs = new Counter({
      name: 'job_controller_job_syncs_total',
      help: 'Runs of the work on a job, by completion mode, result and what was done to its pods.',
      labelNames: syncLabels,
      registers,
    });
    this.syncTimes = new Histogram({
      name: 'job_controller_job_sync_duration_seconds',
      help: 'Time of a run of the work on a job.',
      labelNames: syncLabels,
      buckets: exponentialBuckets(0.004, 2, 15),
      registers,
    });
    this.finishedJobs = new Counter({
      name: 'job_controller_jobs_finished_total',
      help: 'Jobs that ended, by completion mode, result and the reason in their condition.',
      labelNames: ['completion_mode', 'result', 'reason'],
      registers,
    });
    this.finishedPods = new Counter({
      name: 'job_controller_job_pods_finished_total',
      help: 'Ended pods that the status of their job counts.',
      labelNames: ['completion_mode', 'result'],
      registers,
    });
    this.createdPods = new Counter({
      name: 'job_controller_job_pods_creation_total',
      help: 'Pods that the controller tried to create, by the reason and whether that worked.',
      labelNames: ['reason', 'status'],
      registers,
    });
  }

  synced(completion_mode: CompletionMode, action: JobAction, isDone: boolean, seconds: number): void {
    const labels = { completion_mode, action, result: isDone ? 'success' : 'error' };
    this.syncs.inc(labels);
    this.syncTimes.observe(labels, seconds);
  }

  /** @param reason one of the few reasons of the conditions of jobs */
  jobFinished(completion_mode: CompletionMode, isComplete: boolean, reason: string): void {
    this.finishedJobs.inc({ completion_mode, result: isComplete ? 'succeeded' : 'failed', reason });
  }

  podsFinished(completion_mode: CompletionMode, result: 'succeeded' | 'failed', count: number): void {
    if (count > 0) this.finishedPods.inc({ completion_mode, result }, count);
  }

  podsCreated(reason: PodCreationReason, succeeded: number, failed: number): void {
    if (succeeded > 0) this.createdPods.inc({ reason, status: 'succeeded' }, succeeded);
    if (failed > 0) this.createdPods.inc({ reason, status: 'failed' }, failed);
  }
}
