import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod, PodStatus } from '../../../objects/apis/core/v1/pod.types.js';
import { RunProbes } from '../probes/run-probes.js';
import type { RunHealth } from './pod-actions.js';
import { declaredContainers } from './pod-form.js';
import { containerPath } from './pod-killer.js';
import {
  isRunning,
  type RuntimeContainer,
  type RuntimePod,
  runsOf,
  runtimeAddressesOf,
  usableSandbox,
} from './runtime-pod.js';
import type { PodDependencies } from './worker-dependencies.js';

/** The probes of all running containers of a pod. */
export class PodProbes {
  private readonly probes = new Map<string, RunProbes>();

  constructor(
    private readonly dependencies: PodDependencies,
    /** The status in the API when this process took over the pod. */
    private readonly adopted: PodStatus | undefined,
  ) {}

  /** Begins to probe new runs, and stops probing those that have ended. */
  follow(pod: Pod, runtime: RuntimePod): void {
    const running = new Set(runtime.containers.filter(isRunning).map(({ id }) => id));
    for (const id of this.probes.keys()) if (!running.has(id)) this.drop(id);
    for (const { role, container } of declaredContainers(pod)) {
      if (role === 'init' || role === 'ephemeral') continue;
      const [run] = runsOf(runtime, container.name);
      if (run === undefined || !isRunning(run) || this.probes.has(run.id)) continue;
      const known = [...(this.adopted?.containerStatuses ?? []), ...(this.adopted?.initContainerStatuses ?? [])].find(
        ({ containerID }) => containerID?.endsWith(run.id),
      );
      const probes = new RunProbes(this.dependencies.prober, {
        run,
        container: container as Container,
        address: () => runtimeAddressesOf(usableSandbox(runtime))[0] ?? this.dependencies.settings.hostIPs()[0] ?? '',
        event: (type, reason, message) =>
          this.dependencies.event(type, reason, message, containerPath(pod, container.name)),
        changed: this.dependencies.changed,
        before: known && { isStarted: known.started === true, isReady: known.ready },
      });
      this.probes.set(run.id, probes);
    }
  }

  healthOf(run: RuntimeContainer): RunHealth {
    const probes = this.probes.get(run.id);
    return { failed: probes?.failed, isStarted: probes?.isStarted ?? true };
  }

  isStarted(run: RuntimeContainer): boolean {
    return this.probes.get(run.id)?.isStarted ?? true;
  }

  isReady(run: RuntimeContainer): boolean {
    return this.probes.get(run.id)?.isReady ?? true;
  }

  /** The grace period of a run that probes have given up, if the probe has one. */
  graceSeconds(run: RuntimeContainer): number | undefined {
    return this.probes.get(run.id)?.graceSeconds;
  }

  drop(id: string): void {
    this.probes.get(id)?.stop();
    this.probes.delete(id);
  }

  stop(): void {
    for (const id of [...this.probes.keys()]) this.drop(id);
  }
}
