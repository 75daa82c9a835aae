import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import { containerStates } from '../cri/container-messages.js';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import { runtimeLabels } from '../cri/labels.js';
import type { CpuManager } from './cpu-manager.js';

export interface ReconcilerDependencies {
  readonly cpus: Pick<CpuManager, 'retain' | 'cpusOf'>;
  readonly runtime: Pick<ContainerRuntime, 'listContainers' | 'updateResources'>;
  /** Whether a pod may still have a running container; undefined before all pods are known. */
  readonly isActive: () => ((uid: string) => boolean) | undefined;
  readonly periodMs: number;
  readonly timers: Timers;
  readonly logger: Logger;
}

/** Keeps running containers on their processors, which change when other pods begin and end. */
export class CpuReconciler {
  /** The processors that the runtime was last given, by the id of the container. */
  private readonly given = new Map<string, string>();
  private wake = new AbortController();

  constructor(private readonly dependencies: ReconcilerDependencies) {}

  /** Exclusive processors were assigned: other containers must leave them at once. */
  changed(): void {
    this.wake.abort();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { timers, logger, periodMs } = this.dependencies;
    while (!signal.aborted) {
      this.wake = new AbortController();
      try {
        await this.reconcile();
      } catch (error) {
        if (!signal.aborted) logger.debug('could not list the processors of containers', { error });
      }
      await timers.wait(periodMs, AbortSignal.any([signal, this.wake.signal]));
    }
  }

  private async reconcile(): Promise<void> {
    const { cpus, runtime, isActive, logger } = this.dependencies;
    const active = isActive();
    if (active === undefined) return;
    cpus.retain(active);
    const running = (await runtime.listContainers()).filter(({ state }) => state === containerStates.running);
    const ids = new Set(running.map(({ id }) => id));
    for (const id of this.given.keys()) if (!ids.has(id)) this.given.delete(id);
    for (const { id, labels } of running) {
      const uid = labels[runtimeLabels.podUid] ?? '';
      if (!active(uid)) continue;
      const own = cpus.cpusOf(uid, labels[runtimeLabels.containerName] ?? '').cpus;
      if (this.given.get(id) === own) continue;
      try {
        await runtime.updateResources(id, { cpusetCpus: own });
        this.given.set(id, own);
      } catch (error) {
        logger.debug('could not change the processors of a container yet', { id, error });
      }
    }
  }
}
