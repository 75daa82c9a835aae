import { isDeepStrictEqual } from 'node:util';
import { labelSelectorFromObject } from '../../../base/machinery/label-selector.js';
import type { InformerIndex } from '../../../objects/registry/informers/informer.js';
import { claimObjects } from '../frame/controller-refs.js';
import { byController, controllerOf, orphans } from '../frame/indexes.js';
import type { ResourceClient } from '../frame/loop-client.js';
import { plannedPod } from '../frame/pod-from-template.js';
import { isPodActive } from '../frame/pod-state.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import { keyOf, ownKey, ReconcileLoop, type Source, source, splitKey } from '../frame/reconcile-loop.js';
import { errorMessage, isConflict, isNamespaceTerminating } from '../frame/refusals.js';
import { allOf, slowStart } from '../frame/slow-start.js';
import type { CompletionMode, JobAction, PodCreationReason } from '../metrics/job-metrics.js';
import type { WorkOutcome } from '../work-queue.js';
import { JobBackOff } from './job-back-off.js';
import { type JobNames, jobNames } from './job-names.js';
import { completionsReached, deadlineInMs, endOf, isComplete, isFinished, type JobOutcome } from './job-outcome.js';
import { isDeleting, isIndexed, isTracked, type JobPod, type StoredJob } from './job-pod.js';
import { newJobPod } from './job-pod-template.js';
import { type JobState, jobState } from './job-state.js';
import { type JobReport, jobReport } from './job-status.js';
import { limitsEachIndex } from './per-index.js';
import { type PodChanges, podChanges } from './wanted-pods.js';

/** Prefix of the keys that stand for one pod without a job. */
const podPrefix = 'pod:';

/** The outcome for the pods of a job in one run. */
interface Managed {
  readonly active: number;
  readonly terminating: number;
  readonly againInMs?: number | undefined;
  readonly error?: unknown;
}

/**
 * Runs the pods of jobs to completion. A status is written only over the state that it was computed from, and from pods
 * that are at least as new, so that no pod is counted twice even when another process does the same work.
 */
export class JobController extends ReconcileLoop {
  readonly name = 'job-controller';
  private readonly names: JobNames = jobNames(this.dependencies.names);
  private readonly jobs = this.informer<StoredJob>('batch', 'jobs');
  private readonly pods = this.informer<JobPod>('', 'pods');
  /** Pods by the key of the job that they name as their controller. */
  private readonly podsByJob: InformerIndex<JobPod> = this.pods.index('job', (pod) => jobKeyOf(pod));
  private readonly owned = byController(this.pods);
  private readonly orphans = orphans(this.pods);
  /** Jobs with a selector of their own (`manualSelector`), by namespace. */
  private readonly manualJobs = this.jobs.index('manual-selector', ({ metadata, spec }) =>
    spec.manualSelector === true ? [metadata.namespace ?? ''] : [],
  );
  private readonly jobsByUid = this.jobs.index('uid', ({ metadata }) => [metadata.uid ?? '']);
  private readonly backOffs = new Map<string, JobBackOff>();

  protected sources(): readonly Source[] {
    return [source(this.jobs, ownKey), source(this.pods, (pod, old) => this.keysOfPod(pod, old))];
  }

  protected async reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    if (key.startsWith(podPrefix)) return this.freeOrphan(key.slice(podPrefix.length), work);
    const { namespace, name } = splitKey(key);
    const job = this.jobs.get(namespace, name);
    if (job !== undefined && (job.spec.managedBy ?? this.names.manager) !== this.names.manager) return 'done';
    await this.freeStrangers(key, job, work);
    if (job === undefined || isFinished(job)) {
      this.backOffs.delete(key);
      if (job !== undefined) await this.free([...this.owned.get(job.metadata.uid ?? '')], work);
      return 'done';
    }
    await this.pods.reached(BigInt(job.metadata.resourceVersion ?? 0));
    return this.measured(job, (action) => this.advance(key, job, work, action));
  }

  /** Counts a run. The run reports what it did to the pods. */
  private async measured(
    job: StoredJob,
    run: (report: (action: JobAction) => void) => Promise<WorkOutcome>,
  ): Promise<WorkOutcome> {
    const started = performance.now();
    let action: JobAction = 'reconciling';
    let isDone = false;
    try {
      const outcome = await run((done) => {
        // Counting ended pods matters only in a run that does nothing else.
        if (done !== 'tracking' || action === 'reconciling') action = done;
      });
      isDone = true;
      return outcome;
    } finally {
      const seconds = (performance.now() - started) / 1000;
      this.dependencies.loopMetrics?.jobs.synced(modeOf(job), action, isDone, seconds);
    }
  }

  private async advance(
    key: string,
    job: StoredJob,
    work: ReconcileContext,
    report: (action: JobAction) => void,
  ): Promise<WorkOutcome> {
    const state = jobState(job, await this.podsOf(job, work), this.names);
    const pauseMs = this.pauseMs(key, state, work.now);
    let outcome = endOf(state, work.now);
    let managed: Managed = { active: state.active.length, terminating: state.terminating };
    if (outcome !== undefined) {
      if (state.active.length > 0) report('pods_deleted');
      managed = await this.endPods(state, work);
    } else if (!isDeleting(job)) {
      const changes = podChanges(state, pauseMs, work.now);
      if (changes.create.length > 0) report('pods_created');
      else if (changes.remove.length > 0) report('pods_deleted');
      managed = await this.changePods(state, changes, work);
    }
    if (outcome === undefined && isComplete(state, managed.active)) outcome = completionsReached;
    const { active, terminating } = managed;
    const news = jobReport(state, { outcome, active, terminating, managed: !isDeleting(job), now: work.now });
    if (news.release.length > 0) report('tracking');
    if (!(await this.write(job, news, outcome, work))) return 'later';
    await this.free(news.release, work);
    // Released pods are counted in the next run; the informers report the release only while the pods still exist.
    if (news.release.length > 0) this.enqueue(key);
    if (managed.error !== undefined) throw managed.error;
    // A job that must end waits for its pods, not for a time.
    const waits = [managed.againInMs, outcome !== undefined || news.finished ? undefined : deadlineInMs(job, work.now)];
    const nextMs = Math.min(...waits.filter((wait) => wait !== undefined));
    if (Number.isFinite(nextMs)) this.enqueue(key, nextMs);
    return 'done';
  }

  /** The pods of the job, with those that it adopts: they are counted from then on. */
  private async podsOf(job: StoredJob, work: ReconcileContext): Promise<JobPod[]> {
    const { namespace = '', name = '' } = job.metadata;
    const pods = await claimObjects<JobPod>(work, {
      owner: job,
      selector: labelSelectorFromObject(job.spec.selector),
      owned: this.owned,
      orphans: this.orphans,
      client: this.podClient,
      liveOwner: () => this.client('batch', 'jobs').get(namespace, name),
      adjust: (pod, isOwned) => {
        if (isOwned) addFinalizer(pod, this.names);
        else removeFinalizer(pod, this.names);
      },
    });
    if (isDeleting(job)) return pods;
    // The work may have stopped before the deletion of a pod whose finalizer it had removed.
    const untracked = (pod: JobPod) => isPodActive(pod) && !isTracked(pod, this.names);
    return Promise.all(pods.map(async (pod) => (untracked(pod) ? ((await this.track(pod, work)) ?? pod) : pod)));
  }

  /** Ensures that the end of a pod will be counted. */
  private track(pod: JobPod, work: ReconcileContext): Promise<JobPod | undefined> {
    return this.podClient.update(work, pod, (live) =>
      !isDeleting(live) && addFinalizer(live, this.names) ? live : undefined,
    );
  }

  private pauseMs(key: string, state: JobState, now: number): number {
    const { job, pods, names } = state;
    if (limitsEachIndex(job)) return 0;
    const backOff = this.backOffs.get(key) ?? new JobBackOff();
    this.backOffs.set(key, backOff);
    backOff.observe(
      job,
      pods.filter((pod) => pod.status.phase === 'Failed' || pod.status.phase === 'Succeeded' || isTracked(pod, names)),
    );
    return backOff.remainingMs(now);
  }

  /** Deletes the pods that still run; they are counted in their present state. */
  private async endPods({ job, active, terminating }: JobState, work: ReconcileContext): Promise<Managed> {
    const { error } = await allOf(active, (pod) => this.deletePod(job, pod, work));
    if (error !== undefined) throw error;
    return { active: 0, terminating: terminating + active.length };
  }

  private async changePods(state: JobState, changes: PodChanges, work: ReconcileContext): Promise<Managed> {
    const { job, active, terminating } = state;
    const { remove, create, againInMs } = changes;
    // A pod that the job itself no longer needs is not counted as a failure.
    const removed = await allOf(remove, (pod) => this.removePod(job, pod, work));
    const made = await slowStart(create.length, async (i) => {
      const make = () => newJobPod(job, create[i] ?? { index: undefined, after: undefined }, this.names);
      const { metadata } = await this.podClient.createFrom(work, plannedPod(job, job.spec.template), make);
      this.events.normal(job, 'SuccessfulCreate', `Created pod: ${metadata.name}`);
    });
    const failures = made.error === undefined ? 0 : 1;
    this.dependencies.loopMetrics?.jobs.podsCreated(creationReason(state), made.done, failures);
    const error = removed.error ?? made.error;
    if (made.error !== undefined && !isNamespaceTerminating(made.error)) {
      this.events.warning(job, 'FailedCreate', `Error creating: ${errorMessage(made.error)}`);
    }
    return {
      active: active.length - removed.done + made.done,
      terminating: terminating + removed.done,
      againInMs,
      error: isNamespaceTerminating(error) ? undefined : error,
    };
  }

  /** Deletes a pod without counting it, unless it has ended meanwhile. */
  private async removePod(job: StoredJob, pod: JobPod, work: ReconcileContext): Promise<void> {
    const untracked = isTracked(pod, this.names)
      ? await this.podClient.update(work, pod, (live) =>
          isPodActive(live) && removeFinalizer(live, this.names) ? live : undefined,
        )
      : pod;
    if (untracked === undefined) return;
    try {
      await this.deletePod(job, untracked, work);
    } catch (error) {
      await this.track(pod, work);
      throw error;
    }
  }

  /** Deletes a pod that has not changed since it was seen; throws a conflict otherwise. */
  private async deletePod(job: StoredJob, pod: JobPod, work: ReconcileContext): Promise<void> {
    const { name, resourceVersion = '' } = pod.metadata;
    try {
      if (!(await this.podClient.delete(work, pod, { resourceVersion }))) return;
    } catch (error) {
      if (!isConflict(error)) this.events.warning(job, 'FailedDelete', `Error deleting: ${errorMessage(error)}`);
      throw error;
    }
    this.events.normal(job, 'SuccessfulDelete', `Deleted pod: ${name}`);
  }

  /** Writes the status unless it stays the same; false when the job has changed meanwhile. */
  private async write(
    job: StoredJob,
    { status, finished, suspended }: JobReport,
    outcome: JobOutcome | undefined,
    work: ReconcileContext,
  ): Promise<boolean> {
    if (isDeepStrictEqual(status, job.status)) return true;
    const written = await this.client<StoredJob>('batch', 'jobs').updateStatus(work, job, (live) =>
      live.metadata.resourceVersion === job.metadata.resourceVersion ? { ...live, status } : undefined,
    );
    if (written === undefined) return false;
    this.count(job, status, finished);
    if (suspended !== undefined) {
      const isSuspended = suspended.status === 'True';
      this.events.normal(job, isSuspended ? 'Suspended' : 'Resumed', suspended.message ?? '');
    }
    if (finished?.type === 'Complete') this.events.normal(job, 'Completed', 'Job completed');
    else if (finished !== undefined) this.events.warning(job, outcome?.reason ?? '', outcome?.message ?? '');
    return true;
  }

  /** Counts the pods, and the end of the job, that a written status records. */
  private count(job: StoredJob, status: StoredJob['status'], finished: JobReport['finished']): void {
    const { loopMetrics } = this.dependencies;
    const mode = modeOf(job);
    for (const result of ['succeeded', 'failed'] as const) {
      loopMetrics?.jobs.podsFinished(mode, result, endedPods(status, result) - endedPods(job.status, result));
    }
    if (finished !== undefined) {
      loopMetrics?.jobs.jobFinished(mode, finished.type === 'Complete', finished.reason ?? '');
    }
  }

  /** Removes the finalizer from the pods of jobs that had this key before. */
  private async freeStrangers(key: string, job: StoredJob | undefined, work: ReconcileContext): Promise<void> {
    const uid = job?.metadata.uid;
    const strangers = [...this.podsByJob.get(key)].filter(
      (pod) => controllerOf(pod)?.uid !== uid && isTracked(pod, this.names),
    );
    if (strangers.length === 0) return;
    const { namespace, name } = splitKey(key);
    // The informer of pods may be ahead of that of jobs, so the job is read from the store.
    const live = await this.client('batch', 'jobs').get(namespace, name);
    await this.free(
      strangers.filter((pod) => controllerOf(pod)?.uid !== live?.metadata.uid),
      work,
    );
  }

  /** Removes the finalizer from a pod without a controller, unless a job is going to adopt it. */
  private async freeOrphan(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { namespace, name } = splitKey(key);
    const pod = this.pods.get(namespace, name);
    if (pod === undefined || controllerOf(pod) !== undefined || !isTracked(pod, this.names)) return 'done';
    if (this.adopters(pod).some((job) => !isFinished(job) && !isDeleting(job))) return 'done';
    await this.free([pod], work);
    return 'done';
  }

  /** Removes the tracking finalizer. */
  private async free(pods: readonly JobPod[], work: ReconcileContext): Promise<void> {
    const tracked = pods.filter((pod) => isTracked(pod, this.names));
    const { error } = await allOf(tracked, async (pod) => {
      await this.podClient.update(work, pod, (live) => (removeFinalizer(live, this.names) ? live : undefined));
    });
    if (error !== undefined) throw error;
  }

  private *keysOfPod(pod: JobPod | undefined, old: JobPod | undefined): Iterable<string> {
    if (old !== undefined) yield* jobKeyOf(old);
    if (pod === undefined) return;
    yield* jobKeyOf(pod);
    if (controllerOf(pod) !== undefined) return;
    for (const job of this.adopters(pod)) yield keyOf(job);
    if (isTracked(pod, this.names)) yield `${podPrefix}${keyOf(pod)}`;
  }

  /** The jobs that select a pod. */
  private adopters({ metadata }: JobPod): StoredJob[] {
    const { labels = {}, namespace = '' } = metadata;
    const uid = labels['controller-uid'] ?? labels[this.names.controllerUidLabel] ?? '';
    return [...this.jobsByUid.get(uid), ...this.manualJobs.get(namespace)].filter(
      ({ metadata: job, spec }) =>
        job.namespace === namespace && labelSelectorFromObject(spec.selector).matches(labels),
    );
  }

  private get podClient(): ResourceClient<JobPod> {
    return this.client<JobPod>('', 'pods');
  }
}

function modeOf(job: StoredJob): CompletionMode {
  return isIndexed(job) ? 'Indexed' : 'NonIndexed';
}

/** The ended pods in a status, whether they still have their finalizer or not. */
function endedPods(status: StoredJob['status'], result: 'succeeded' | 'failed'): number {
  return (status[result] ?? 0) + (status.uncountedTerminatedPods?.[result] ?? []).length;
}

function creationReason({ job, failed, terminating }: JobState): PodCreationReason {
  if (job.spec.podReplacementPolicy === 'Failed') return failed > 0 ? 'recreate_failed' : 'new';
  return failed + terminating > 0 ? 'recreate_terminating_or_failed' : 'new';
}

/** The key of the job that a pod names as its controller, if it names one. */
function jobKeyOf(pod: JobPod): string[] {
  const controller = controllerOf(pod);
  return controller?.kind === 'Job' ? [keyOf({ metadata: { ...pod.metadata, name: controller.name } })] : [];
}

/** Adds the tracking finalizer to `pod`; false when it already has it. */
function addFinalizer({ metadata }: JobPod, { trackingFinalizer }: JobNames): boolean {
  if (metadata.finalizers?.includes(trackingFinalizer) === true) return false;
  metadata.finalizers = [...(metadata.finalizers ?? []), trackingFinalizer];
  return true;
}

/** Removes the tracking finalizer from `pod`; false when it has none. */
function removeFinalizer({ metadata }: JobPod, { trackingFinalizer }: JobNames): boolean {
  if (metadata.finalizers?.includes(trackingFinalizer) !== true) return false;
  metadata.finalizers = metadata.finalizers.filter((finalizer) => finalizer !== trackingFinalizer);
  return true;
}
