import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Job } from '../../../objects/apis/batch/v1/job.types.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import { keyOf, ownKey, ReconcileLoop, type Source, source, splitKey } from '../frame/reconcile-loop.js';
import type { WorkOutcome } from '../work-queue.js';
import { overdue, timeLeft } from './time-left.js';

type StoredJob = Job & ApiObject;

/** Timers can't wait for months. */
const longestWaitMs = 24 * 3_600_000;

/** Deletes finished jobs, with their pods, when the time of their `ttlSecondsAfterFinished` is over. */
export class TtlAfterFinishedController extends ReconcileLoop {
  readonly name = 'ttl-after-finished-controller';
  private readonly jobs = this.informer<StoredJob>('batch', 'jobs');

  protected sources(): readonly Source[] {
    return [source(this.jobs, ownKey)];
  }

  protected async reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { namespace, name } = splitKey(key);
    const known = this.jobs.get(namespace, name);
    if (known === undefined || known.metadata.deletionTimestamp !== undefined) return 'done';
    const left = timeLeft(known, work.now);
    if (left === undefined) return 'done';
    if (left > 0) return Math.min(left, longestWaitMs);
    // Somebody may have extended the time since the informer read the job.
    const { resourceVersion = '' } = known.metadata;
    const options = { propagationPolicy: 'Foreground', garbageCollector: true, resourceVersion } as const;
    if (await this.client('batch', 'jobs').delete(work, known, options)) {
      this.dependencies.loopMetrics?.jobDeletion.observe(overdue(known, this.dependencies.timers.now()) / 1000);
      this.dependencies.logger.info('a finished job whose time to live had passed was deleted', { job: keyOf(known) });
    }
    return 'done';
  }
}
