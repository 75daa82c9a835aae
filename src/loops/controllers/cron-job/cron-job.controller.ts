import { isDeepStrictEqual } from 'node:util';
import { formatTime } from '../../../base/machinery/clock.js';
import { cloneJson } from '../../../base/machinery/json/exact-numbers.js';
import { type CronSchedule, parseSchedule } from '../../../base/machinery/values/cron-schedule.js';
import { TimeZone } from '../../../base/machinery/values/time-zone.js';
import type { CronJobStatus } from '../../../objects/apis/batch/v1/cron-job.types.js';
import { byController, controllerOf } from '../frame/indexes.js';
import type { DeepPartial, ResourceClient } from '../frame/loop-client.js';
import { controllerReference } from '../frame/pod-from-template.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import { keyOf, ownKey, ReconcileLoop, type Source, source, splitKey } from '../frame/reconcile-loop.js';
import { errorMessage, isAlreadyExists, isNamespaceTerminating } from '../frame/refusals.js';
import { isDeleting, type StoredJob } from '../job/job-pod.js';
import type { WorkOutcome } from '../work-queue.js';
import { jobEndOf, outlivedJobs, referenceTo, reviewJobs, setActive } from './active-jobs.js';
import { dueRun, type StoredCronJob } from './due-run.js';

/** The longest wait: the machine's clock may be changed. */
const longestWaitMs = 600_000;
const mostZones = 1000;

/**
 * Starts the jobs of cron jobs at the times of their schedules. The name of a job follows from the cron job and the
 * time, so no run is started twice, even if another process does the same.
 */
export class CronJobController extends ReconcileLoop {
  readonly name = 'cronjob-controller';
  private readonly cronJobs = this.informer<StoredCronJob>('batch', 'cronjobs');
  private readonly jobs = this.informer<StoredJob>('batch', 'jobs');
  private readonly owned = byController(this.jobs);
  private readonly timestampAnnotation = `batch.${this.dependencies.names.labelPrefix}/cronjob-scheduled-timestamp`;
  private readonly zones = new Map<string | undefined, TimeZone>();

  protected sources(): readonly Source[] {
    const keys = (job: StoredJob | undefined, old: StoredJob | undefined) =>
      [job, old].flatMap((one) => (one === undefined ? [] : ownerKeyOf(one)));
    return [source(this.cronJobs, ownKey), source(this.jobs, keys)];
  }

  protected async reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { namespace, name } = splitKey(key);
    const cronJob = this.cronJobs.get(namespace, name);
    if (cronJob === undefined) return 'done';
    await this.jobs.reached(BigInt(cronJob.metadata.resourceVersion ?? 0));
    const jobs = [...this.owned.get(cronJob.metadata.uid ?? '')];
    const status = await this.review(cronJob, jobs);
    let waitMs: number | undefined;
    let error: unknown;
    if (!isDeleting(cronJob)) {
      try {
        waitMs = await this.startDue(cronJob, status, work);
      } catch (caught) {
        error = caught;
      }
      await this.removeOutlived(cronJob, jobs, work);
    }
    if (!(await this.write(cronJob, status, work))) return 'later';
    if (error !== undefined) throw error;
    if (waitMs !== undefined) this.enqueue(key, Math.max(1, Math.min(waitMs, longestWaitMs)));
    return 'done';
  }

  /** The status that follows from the existing jobs. */
  private async review(cronJob: StoredCronJob, jobs: readonly StoredJob[]): Promise<CronJobStatus> {
    const { status, news, missing } = reviewJobs(cronJob, jobs);
    for (const { type, reason, message } of news) {
      if (type === 'Normal') this.events.normal(cronJob, reason, message);
      else this.events.warning(cronJob, reason, message);
    }
    for (const { namespace = '', name = '', uid } of missing) {
      // The cron job may have released the job, which then runs on by itself.
      const live = await this.jobClient.get(namespace, name);
      if (live !== undefined && live.metadata.uid === uid) continue;
      this.events.normal(cronJob, 'MissingJob', `Active job went missing: ${name}`);
      setActive(
        status,
        (status.active ?? []).filter((reference) => reference.uid !== uid),
      );
    }
    return status;
  }

  /** Starts a run if one is due; changes `status`. Resolves with the time until the next one. */
  private async startDue(
    cronJob: StoredCronJob,
    status: CronJobStatus,
    work: ReconcileContext,
  ): Promise<number | undefined> {
    const { spec } = cronJob;
    if (spec.suspend === true) return undefined;
    const times = this.timesOf(cronJob);
    if (times === undefined) return undefined;
    const { at, isFarBehind, next } = dueRun(cronJob, times.schedule, times.zone, work.now);
    if (next === undefined) {
      // A schedule such as 31 February never comes due. Upstream reports it with this reason too.
      const reason = 'time difference between two schedules is less than 1 second';
      this.events.warning(cronJob, 'InvalidSchedule', `invalid schedule: ${spec.schedule} : ${reason}`);
    }
    if (isFarBehind) {
      const advice = 'Set or decrease .spec.startingDeadlineSeconds or check clock skew';
      this.events.warning(cronJob, 'TooManyMissedTimes', `too many missed start times. ${advice}`);
    }
    const waitMs = next === undefined ? undefined : next - work.now;
    if (at === undefined || (await this.mustWait(cronJob, status, at, work))) return waitMs;
    const job = await this.start(cronJob, times.zone, at, work);
    if (job === undefined) return waitMs;
    status.lastScheduleTime = formatTime(at);
    if (jobEndOf(job) === undefined) setActive(status, [...(status.active ?? []), referenceTo(job)]);
    return waitMs;
  }

  private timesOf(cronJob: StoredCronJob): { schedule: CronSchedule; zone: TimeZone } | undefined {
    const { schedule, timeZone } = cronJob.spec;
    let zone: TimeZone;
    try {
      zone = this.zone(timeZone);
    } catch (error) {
      const text = `invalid timeZone: ${JSON.stringify(timeZone)}: ${errorMessage(error)}`;
      this.events.warning(cronJob, 'UnknownTimeZone', text);
      return undefined;
    }
    try {
      return { schedule: parseSchedule(schedule), zone };
    } catch (error) {
      const text = `unparseable schedule: ${JSON.stringify(schedule)} : ${errorMessage(error)}`;
      this.events.warning(cronJob, 'UnparseableSchedule', text);
      return undefined;
    }
  }

  private zone(name: string | undefined): TimeZone {
    const known = this.zones.get(name);
    if (known !== undefined) return known;
    const zone = new TimeZone(name);
    if (this.zones.size >= mostZones) this.zones.clear();
    this.zones.set(name, zone);
    return zone;
  }

  /** Whether jobs that are still active keep the run from starting; ends them if they have to be replaced. */
  private async mustWait(
    cronJob: StoredCronJob,
    status: CronJobStatus,
    at: number,
    work: ReconcileContext,
  ): Promise<boolean> {
    const active = status.active ?? [];
    if (active.some(({ name }) => name === runName(cronJob, at))) return true;
    if (active.length === 0 || cronJob.spec.concurrencyPolicy === 'Allow') return false;
    if (cronJob.spec.concurrencyPolicy === 'Forbid') {
      const text = 'Not starting job because prior execution is running and concurrency policy is Forbid';
      this.events.normal(cronJob, 'JobAlreadyActive', text);
      return true;
    }
    for (const { namespace = '', name = '', uid } of active) {
      const live = await this.jobClient.get(namespace, name);
      if (live?.metadata.uid === uid && live !== undefined) await this.deleteJob(cronJob, live, work);
    }
    delete status.active;
    return false;
  }

  /** Creates the job of a run. Resolves with undefined when no job can be created. */
  private async start(
    cronJob: StoredCronJob,
    zone: TimeZone,
    at: number,
    work: ReconcileContext,
  ): Promise<StoredJob | undefined> {
    const { namespace = '' } = cronJob.metadata;
    try {
      const job = await this.jobClient.create(work, this.jobOf(cronJob, zone, at));
      this.events.normal(cronJob, 'SuccessfulCreate', `Created job ${job.metadata.name}`);
      const { timers, loopMetrics } = this.dependencies;
      loopMetrics?.cronSkew.observe(Math.max(0, timers.now() - at) / 1000);
      return job;
    } catch (error) {
      if (isNamespaceTerminating(error)) return undefined;
      if (isAlreadyExists(error)) {
        const live = await this.jobClient.get(namespace, runName(cronJob, at));
        // An earlier run created the job, but did not get to write the status.
        if (live !== undefined && controllerOf(live)?.uid === cronJob.metadata.uid) return live;
      }
      this.events.warning(cronJob, 'FailedCreate', `Error creating job: ${errorMessage(error)}`);
      if (isAlreadyExists(error)) return undefined;
      throw error;
    }
  }

  private jobOf(cronJob: StoredCronJob, zone: TimeZone, at: number): DeepPartial<StoredJob> {
    const { metadata, spec } = cronJob.spec.jobTemplate;
    const timestamp = cronJob.spec.timeZone === undefined ? formatTime(at) : zone.format(at);
    return {
      metadata: {
        name: runName(cronJob, at),
        namespace: cronJob.metadata.namespace ?? '',
        labels: { ...metadata?.labels },
        annotations: { ...metadata?.annotations, [this.timestampAnnotation]: timestamp },
        ownerReferences: [controllerReference(cronJob)],
      },
      spec: cloneJson(spec) as DeepPartial<StoredJob['spec']>,
    };
  }

  private async removeOutlived(
    cronJob: StoredCronJob,
    jobs: readonly StoredJob[],
    work: ReconcileContext,
  ): Promise<void> {
    for (const job of outlivedJobs(cronJob, jobs)) {
      if (!isDeleting(job)) await this.deleteJob(cronJob, job, work);
    }
  }

  private async deleteJob(cronJob: StoredCronJob, job: StoredJob, work: ReconcileContext): Promise<void> {
    const { name } = job.metadata;
    try {
      await this.jobClient.delete(work, job, { propagationPolicy: 'Background' });
    } catch (error) {
      this.events.warning(cronJob, 'FailedDelete', `Error deleting job: ${errorMessage(error)}`);
      throw error;
    }
    this.events.normal(cronJob, 'SuccessfulDelete', `Deleted job ${name}`);
  }

  /** Writes the status unless it stays the same; false when the cron job has changed meanwhile. */
  private async write(cronJob: StoredCronJob, status: CronJobStatus, work: ReconcileContext): Promise<boolean> {
    if (isDeepStrictEqual(status, cronJob.status)) return true;
    const written = await this.client<StoredCronJob>('batch', 'cronjobs').updateStatus(work, cronJob, (live) =>
      live.metadata.resourceVersion === cronJob.metadata.resourceVersion ? { ...live, status } : undefined,
    );
    return written !== undefined;
  }

  private get jobClient(): ResourceClient<StoredJob> {
    return this.client<StoredJob>('batch', 'jobs');
  }
}

/** The name of the job for a scheduled time: it ends in the minutes since the epoch. */
function runName({ metadata }: StoredCronJob, at: number): string {
  return `${metadata.name}-${Math.floor(at / 60_000)}`;
}

function ownerKeyOf(job: StoredJob): string[] {
  const controller = controllerOf(job);
  return controller?.kind === 'CronJob' ? [keyOf({ metadata: { ...job.metadata, name: controller.name } })] : [];
}
