import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { ReadyVolume } from '../volumes/pod-volumes.js';
import { VolumePending } from '../volumes/volume-pending.js';
import { VolumeProblem } from '../volumes/volume-problem.js';
import type { PodDependencies } from './worker-dependencies.js';

/** When a pod has waited this long for its volumes, an event reports it. */
const patienceMs = 123_000;

/** Prepares the volumes of one pod, or brings them up to date. */
export class VolumePreparation {
  private waitsSince: number | undefined;

  constructor(private readonly dependencies: PodDependencies) {}

  /**
   * Undefined while other components have work to do for them. @throws VolumeProblem for a volume that can't be
   * prepared
   */
  async prepare(
    pod: Pod,
    podIPs: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, ReadyVolume> | undefined> {
    try {
      const volumes = await this.dependencies.prepareVolumes(pod, podIPs);
      this.waitsSince = undefined;
      return volumes;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof VolumePending) {
        this.wait(pod);
        return undefined;
      }
      if (error instanceof VolumeProblem) this.dependencies.event('Warning', 'FailedMount', error.message);
      throw error;
    }
  }

  private wait({ spec }: Pod): void {
    const now = this.dependencies.timers.elapsed();
    this.waitsSince ??= now;
    if (now < this.waitsSince + patienceMs) return;
    this.waitsSince = now;
    const names = (spec.volumes ?? []).map(({ name }) => name).join(' ');
    const message =
      `Unable to attach or mount volumes: unmounted volumes=[${names}], unattached volumes=[${names}], ` +
      'failed to process volumes=[]: timed out waiting for the condition';
    this.dependencies.event('Warning', 'FailedMount', message);
  }
}
