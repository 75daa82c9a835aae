import { errorText } from '../../../base/machinery/startup-error.js';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { cgroupAmounts, largerAmounts, linuxResourcesOf, podAmounts } from '../containers/resources.js';
import type { ContainerUpdate } from './pod-actions.js';
import type { PodAllocation } from './pod-allocation.js';
import { declaredContainers } from './pod-form.js';
import { resizeOf, resourcesOfPod, withResources } from './pod-resources.js';
import { isRunning, type RuntimePod, runsOf } from './runtime-pod.js';
import type { PodDependencies } from './worker-dependencies.js';

/** Changes the resources of the running containers of one pod. */
export class PodResizer {
  constructor(
    private readonly dependencies: PodDependencies,
    private readonly allocation: PodAllocation,
  ) {}

  /** How the present run of a container gets its declared resources. */
  resizeOf(container: Pick<Container, 'name' | 'resources' | 'resizePolicy'>): 'none' | 'update' | 'restart' {
    const actual = this.allocation.actual(container.name);
    return actual === undefined ? 'none' : resizeOf(container, actual);
  }

  /** Makes the cgroup of the pod. During a resize, its limits cover both the old and the new resources. */
  async prepareCgroup(pod: Pod): Promise<void> {
    const { allocation } = this;
    if (allocation.state.inProgress === undefined) return this.setCgroup(pod, podAmounts(pod));
    const { containers, pod: whole } = resourcesOfPod(pod);
    const had = Object.fromEntries(
      Object.entries(containers).map(([name, resources]) => [name, allocation.actual(name) ?? resources]),
    );
    const ofPod = allocation.actualPod ?? whole;
    const before = withResources(pod, { containers: had, ...(ofPod === undefined ? {} : { pod: ofPod }) });
    await this.setCgroup(pod, largerAmounts(podAmounts(before), podAmounts(pod)));
  }

  private async setCgroup(pod: Pod, amounts: ReturnType<typeof podAmounts>): Promise<void> {
    const { cgroups, settings } = this.dependencies;
    if (settings.podsCgroup === undefined) return;
    await cgroups.makePod(pod, settings.podsCgroup, settings.cfsQuotaPeriodMs, cgroupAmounts(pod, settings, amounts));
  }

  /** Updates runs through the runtime to their declared resources. Returns whether all updates succeeded. */
  async update(pod: Pod, updates: readonly ContainerUpdate[]): Promise<boolean> {
    const { runtime, settings } = this.dependencies;
    for (const { run, declared } of updates) {
      const container = declared.container as Container;
      try {
        await runtime.updateResources(run.id, linuxResourcesOf(pod, container, settings));
      } catch (error) {
        await this.allocation.fail(pod, errorText(error));
        return false;
      }
      await this.allocation.gave({ [container.name]: container.resources });
    }
    return true;
  }

  /** Completes a resize when all running containers have the declared resources. Returns whether it is complete. */
  async finish(pod: Pod, runtime: RuntimePod): Promise<boolean> {
    if (this.allocation.state.inProgress === undefined) return true;
    const isLeft = declaredContainers(pod).some(({ container }) => {
      const [run] = runsOf(runtime, container.name);
      return run !== undefined && isRunning(run) && this.resizeOf(container as Container) !== 'none';
    });
    if (isLeft) return false;
    try {
      await this.setCgroup(pod, podAmounts(pod));
    } catch (error) {
      await this.allocation.fail(pod, errorText(error));
      return false;
    }
    await this.allocation.finish(pod);
    return true;
  }
}
