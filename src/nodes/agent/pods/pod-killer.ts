import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { killContainer } from '../containers/container-killer.js';
import { sandboxReady } from '../cri/sandbox-messages.js';
import { unmountBelow } from '../volumes/mounts.js';
import { podUid, roleOfInit } from './pod-form.js';
import { mayRun, nameOf, podAddressesOf, type RuntimeContainer, type RuntimePod } from './runtime-pod.js';
import type { PodDependencies } from './worker-dependencies.js';

/** The field path of a container, for events. */
export function containerPath(pod: Pod, name: string): string {
  if (pod.spec.initContainers?.some((container) => container.name === name)) return `spec.initContainers{${name}}`;
  if (pod.spec.ephemeralContainers?.some((container) => container.name === name)) {
    return `spec.ephemeralContainers{${name}}`;
  }
  return `spec.containers{${name}}`;
}

/** Ends the containers of a pod, and removes its remains. */
export class PodKiller {
  constructor(private readonly dependencies: PodDependencies) {}

  /** Ends all containers within the grace period: sidecars after the others, in the opposite order of their start. */
  async stopContainers(pod: Pod, runtime: RuntimePod, grace: number, hurry: AbortSignal): Promise<void> {
    const { timers } = this.dependencies;
    const until = timers.elapsed() + grace * 1000;
    const sidecars = (pod.spec.initContainers ?? [])
      .filter((container) => roleOfInit(container) === 'sidecar')
      .map(({ name }) => name);
    const running = runtime.containers.filter(mayRun);
    const [late, first] = [
      running.filter((run) => sidecars.includes(nameOf(run))),
      running.filter((run) => !sidecars.includes(nameOf(run))),
    ];
    await Promise.all(first.map((run) => this.stop(pod, runtime, run, grace, hurry)));
    const reversed = late.sort((a, b) => sidecars.indexOf(nameOf(b)) - sidecars.indexOf(nameOf(a)));
    for (const run of reversed) {
      const left = Math.max(0, Math.ceil((until - timers.elapsed()) / 1000));
      await this.stop(pod, runtime, run, Math.min(grace, Math.max(left, Math.min(grace, 2))), hurry);
    }
  }

  /** Ends one container, with an event that says why. */
  async stop(
    pod: Pod,
    runtime: RuntimePod,
    run: RuntimeContainer,
    graceSeconds: number,
    hurry: AbortSignal,
    message = `Stopping container ${nameOf(run)}`,
  ): Promise<void> {
    const address = podAddressesOf(pod, runtime, () => this.dependencies.settings.hostIPs())[0] ?? '';
    const event = (type: 'Normal' | 'Warning', reason: string, text: string) =>
      this.dependencies.event(type, reason, text, containerPath(pod, nameOf(run)));
    const work = killContainer(this.dependencies, { run, message, graceSeconds, address, hurry, event });
    await Promise.race([work, aborted(hurry)]);
    work.catch(() => undefined);
  }

  async stopSandboxes({ sandboxes }: RuntimePod): Promise<void> {
    for (const { id } of sandboxes) await this.dependencies.runtime.stopSandbox(id);
  }

  /**
   * Unmounts the volumes of a pod: first subpaths of volumes, then volumes that drivers have mounted, then the others.
   */
  async releaseVolumes(pod: Pod): Promise<void> {
    const { folders, releaseVolumes } = this.dependencies;
    const uid = podUid(pod);
    await unmountBelow(folders.subPaths(uid));
    await releaseVolumes(uid);
    await unmountBelow(folders.pod(uid));
  }

  /**
   * Removes the containers and sandboxes of a pod that has ended, its cgroup, its files and its logs. The folder is
   * removed last: from it, a restarted agent sees what else it must remove.
   */
  async removeEverything(pod: Pod): Promise<void> {
    const { runtime, view, folders, cgroups, settings, backOff, images } = this.dependencies;
    const uid = podUid(pod);
    const { namespace = '', name = '' } = pod.metadata;
    const left = await view.read(uid, namespace, name);
    for (const { id } of left.containers) await runtime.removeContainer(id);
    for (const { id, state } of left.sandboxes) {
      if (state === sandboxReady) await runtime.stopSandbox(id);
      await runtime.removeSandbox(id);
    }
    if (settings.podsCgroup !== undefined) await cgroups.removePod(uid, settings.podsCgroup);
    await folders.removeLogs(uid);
    await folders.remove(uid);
    backOff.forget(`${uid} `);
    images.forget(uid);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
