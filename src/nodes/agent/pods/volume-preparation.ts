import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { ReadyVolume } from '../volumes/pod-volumes.js';
import { VolumePending, VolumeProblem } from '../volumes/volume-sources.js';
import type { PodDependencies } from './worker-dependencies.js';

/** After this an event says that the volumes of a pod are still not there. */
const patienceMs = 123_000;

/** Makes the volumes of one pod ready, or brings them up to date. */
export class VolumePreparation {
  private waitsSince: number | undefined;

  constructor(private readonly parts: PodDependencies) {}

  /** Undefined while others still have to do something for them. @throws VolumeProblem for one that can't be had */
  async prepare(
    pod: Pod,
    podIPs: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, ReadyVolume> | undefined> {
    try {
      const volumes = await this.parts.prepareVolumes(pod, podIPs);
      this.waitsSince = undefined;
      return volumes;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof VolumePending) {
        this.wait(pod);
        return undefined;
      }
      if (error instanceof VolumeProblem) this.parts.event('Warning', 'FailedMount', error.message);
      throw error;
    }
  }

  private wait({ spec }: Pod): void {
    const now = this.parts.timers.elapsed();
    this.waitsSince ??= now;
    if (now < this.waitsSince + patienceMs) return;
    this.waitsSince = now;
    const names = (spec.volumes ?? []).map(({ name }) => name).join(' ');
    const message =
      `Unable to attach or mount volumes: unmounted volumes=[${names}], unattached volumes=[${names}], ` +
      'failed to process volumes=[]: timed out waiting for the condition';
    this.parts.event('Warning', 'FailedMount', message);
  }
}
