import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { ApiUser } from '../../connection/api-connection.js';
import { ApiError } from '../../connection/api-error.js';
import { podAnnotations, podKey, podUid } from '../pods/pod-form.js';
import type { PodWorker } from '../pods/pod-worker.js';

export interface MirrorDependencies {
  readonly api: ApiUser;
  readonly prefix: string;
  readonly node: () => Node | undefined;
  /** The worker of a static pod. */
  readonly workerOf: (uid: string) => PodWorker | undefined;
  readonly timers: Timers;
  readonly logger: Logger;
}

const everyMs = 5_000;

/**
 * Shows static pods in the API: the agent makes a mirror of the same name for each. A deleted mirror is made again; a
 * mirror of an earlier state of the pod, or of a removed pod, is deleted.
 */
export class MirrorPods {
  private readonly wanted = new Map<string, Pod>();
  private readonly mirrors = new Map<string, Pod>();
  private wake = new AbortController();
  /** Before the first list of the API, existing mirrors are unknown. */
  private isListed = false;

  constructor(private readonly dependencies: MirrorDependencies) {}

  want(pods: readonly Pod[]): void {
    this.wanted.clear();
    for (const pod of pods) this.wanted.set(podKey(pod), pod);
    this.wake.abort();
  }

  isMirror({ metadata }: Pod): boolean {
    return metadata.annotations?.[`${this.dependencies.prefix}/${podAnnotations.mirror}`] !== undefined;
  }

  /** The API has a mirror. */
  seen(mirror: Pod): void {
    this.mirrors.set(podKey(mirror), mirror);
    this.wake.abort();
  }

  /** The API no longer has the mirror. */
  gone(uid: string): void {
    for (const [key, mirror] of this.mirrors) if (podUid(mirror) === uid) this.mirrors.delete(key);
    this.wake.abort();
  }

  listed(): void {
    this.isListed = true;
    this.wake.abort();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { timers, logger } = this.dependencies;
    while (!signal.aborted) {
      this.wake = new AbortController();
      try {
        if (this.isListed) await this.bringUpToDate(signal);
      } catch (error) {
        if (!signal.aborted) logger.debug('mirrors of static pods could not be written yet', { error });
      }
      await timers.wait(everyMs, AbortSignal.any([signal, this.wake.signal]));
    }
  }

  /** What the API refuses for one pod keeps none of the others from its mirror. */
  private async bringUpToDate(signal: AbortSignal): Promise<void> {
    const steps = [
      ...[...this.mirrors].map(
        ([key, mirror]) =>
          () =>
            this.check(key, mirror, signal),
      ),
      ...[...this.wanted].map(([key, pod]) => async () => {
        if (!this.mirrors.has(key)) await this.make(pod, signal);
      }),
    ];
    const failures: unknown[] = [];
    for (const step of steps) {
      signal.throwIfAborted();
      await step().catch((error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
        failures.push(error);
      });
    }
    if (failures.length > 0) throw failures[0];
  }

  private async check(key: string, mirror: Pod, signal: AbortSignal): Promise<void> {
    const pod = this.wanted.get(key);
    const isCurrent = pod !== undefined && this.hashOf(mirror, podAnnotations.mirror) === podUid(pod);
    if (!isCurrent || mirror.metadata.deletionTimestamp) {
      await this.remove(mirror, signal);
      return;
    }
    const { namespace = '', name = '', uid = '' } = mirror.metadata;
    this.dependencies.workerOf(podUid(pod))?.writer.aim({ namespace, name, uid });
  }

  private hashOf({ metadata }: Pod, annotation: string): string | undefined {
    return metadata.annotations?.[`${this.dependencies.prefix}/${annotation}`];
  }

  private async remove({ metadata }: Pod, signal: AbortSignal): Promise<void> {
    const { namespace, name, uid } = metadata;
    const body = { gracePeriodSeconds: 0, preconditions: { uid } };
    try {
      await this.dependencies.api.send('DELETE', `/api/v1/namespaces/${namespace}/pods/${name}`, { body, signal });
    } catch (error) {
      if (!(error instanceof ApiError && (error.status === 404 || error.status === 409))) throw error;
    }
    this.mirrors.delete(`${namespace}/${name}`);
  }

  private async make(pod: Pod, signal: AbortSignal): Promise<void> {
    const { api, prefix, node } = this.dependencies;
    const owner = node();
    if (owner?.metadata.uid === undefined) return;
    const { name, namespace, labels, annotations } = pod.metadata;
    const body = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace,
        labels,
        annotations: { ...annotations, [`${prefix}/${podAnnotations.mirror}`]: podUid(pod) },
        ownerReferences: [
          { apiVersion: 'v1', kind: 'Node', name: owner.metadata.name, uid: owner.metadata.uid, controller: true },
        ],
      },
      spec: pod.spec,
    };
    try {
      await api.send('POST', `/api/v1/namespaces/${namespace}/pods`, { body, signal });
    } catch (error) {
      // The mirror exists already, as the watch will report, or the API refuses it.
      if (!(error instanceof ApiError)) throw error;
      if (error.status !== 409)
        this.dependencies.logger.warn('a static pod has no mirror in the API', {
          pod: podKey(pod),
          error: error.message,
        });
    }
  }
}
