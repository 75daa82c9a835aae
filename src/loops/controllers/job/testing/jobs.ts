import assert from 'node:assert/strict';
import { LoopScene } from '../../../../../test/support/loop-scene.js';
import { PretendNode } from '../../../../../test/support/pretend-node.js';
import type { ApiObject } from '../../../../base/machinery/api-object.js';
import type { JobSpec } from '../../../../objects/apis/batch/v1/job.types.js';
import type { Event } from '../../../../objects/apis/core/v1/event.types.js';
import type { PodStatus } from '../../../../objects/apis/core/v1/pod.types.js';
import type { DeepPartial } from '../../frame/loop-client.js';
import { isPodActive } from '../../frame/pod-state.js';
import type { JobPod, StoredJob } from '../job-pod.js';

/** Finalizer of pods that are not counted yet. */
export const tracking = 'batch.kubernetes.io/job-tracking';
/** Annotation and label with the index of a pod. */
export const indexKey = 'batch.kubernetes.io/job-completion-index';
/** The container of the jobs' pods. */
export const container = { name: 'c', image: 'img:1' };

/** Jobs of one scene, and their outcome. */
export class Jobs {
  readonly node: PretendNode;

  constructor(readonly scene: LoopScene) {
    this.node = new PretendNode(scene);
  }

  create(name: string, spec: DeepPartial<JobSpec> = {}): Promise<StoredJob> {
    const template = { spec: { restartPolicy: 'Never', terminationGracePeriodSeconds: 5, containers: [container] } };
    return this.scene.create<StoredJob>('jobs.batch', {
      metadata: { name, namespace: 'default' },
      spec: { template, ...spec } as DeepPartial<JobSpec>,
    });
  }

  get(name: string): Promise<StoredJob> {
    return this.scene.get<StoredJob>('jobs.batch', 'default', name);
  }

  change(name: string, change: (live: StoredJob) => void): Promise<StoredJob> {
    return this.scene.update<StoredJob>('jobs.batch', 'default', name, change);
  }

  /** Waits until a job of this name satisfies a test. */
  until(name: string, what: string, look: (job: StoredJob) => boolean): Promise<StoredJob> {
    return this.scene.until<StoredJob, StoredJob>('jobs.batch', `${name}: ${what}`, (all) =>
      all.find((job) => job.metadata.name === name && look(job)),
    );
  }

  /** Waits for the last condition of the job and for its pods to be counted, and checks that nothing is left to do. */
  async ended(name: string, type: 'Complete' | 'Failed'): Promise<StoredJob> {
    const job = await this.until(name, type, (live) => hasCondition(live, type));
    assert.deepEqual(job.status.uncountedTerminatedPods, {});
    assert.equal(job.status.active, undefined);
    assert.equal(job.status.ready, 0);
    assert.equal(job.status.terminating, 0);
    // The watch of the pods may be behind that of the jobs.
    await this.untilPods(name, 'counted', (own) =>
      own.every(({ metadata }) => !metadata.finalizers?.includes(tracking)),
    );
    return job;
  }

  /** The pods of the job, in the order of their indexes and names. */
  async pods(name: string): Promise<JobPod[]> {
    return this.untilPods(name, 'any', () => true);
  }

  untilPods(name: string, what: string, look: (pods: readonly JobPod[]) => boolean): Promise<JobPod[]> {
    return this.scene.until<JobPod, JobPod[]>('pods', `pods of ${name}: ${what}`, (all) => {
      const own = all.filter(({ metadata }) => metadata.ownerReferences?.[0]?.name === name).sort(byIndex);
      return look(own) && own;
    });
  }

  /** Waits until the job has this many active pods. */
  async active(name: string, count: number): Promise<JobPod[]> {
    const pods = await this.untilPods(name, `${count} active`, (own) => own.filter(isPodActive).length === count);
    return pods.filter(isPodActive);
  }

  /** Ends a pod with an exit code. */
  async exit(pod: JobPod, exitCode: number, more: Partial<PodStatus> = {}): Promise<void> {
    await this.scene.update<JobPod>(
      'pods',
      'default',
      pod.metadata.name ?? '',
      (live) => {
        Object.assign(live.status, more);
        live.status.phase = exitCode === 0 ? 'Succeeded' : 'Failed';
        const finishedAt = new Date(this.scene.timers.now()).toISOString().replace(/\.\d+/, '');
        live.status.containerStatuses = [
          {
            name: 'c',
            image: 'img:1',
            imageID: '',
            ready: false,
            restartCount: 0,
            state: { terminated: { exitCode, startedAt: finishedAt, finishedAt } },
            lastState: {},
          },
        ];
      },
      'status',
    );
  }

  events(name: string, reason: string): Promise<ApiObject & Event> {
    return this.scene.until<ApiObject & Event, ApiObject & Event>('events', `event ${reason} of ${name}`, (all) =>
      all.find((event) => event.reason === reason && event.involvedObject.name === name),
    );
  }
}

/** Whether a job has a condition of this type. */
export function hasCondition({ status }: StoredJob, type: string, wanted = 'True'): boolean {
  return status.conditions?.some((condition) => condition.type === type && condition.status === wanted) ?? false;
}

/** The conditions of a job as text. */
export function conditions({ status }: StoredJob): string[] {
  return (status.conditions ?? []).map(
    ({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`,
  );
}

/** The index of a pod; -1: none. */
export function indexOf({ metadata }: JobPod): number {
  return Number(metadata.annotations?.[indexKey] ?? -1);
}

function byIndex(a: JobPod, b: JobPod): number {
  return indexOf(a) - indexOf(b) || (a.metadata.name ?? '').localeCompare(b.metadata.name ?? '');
}
