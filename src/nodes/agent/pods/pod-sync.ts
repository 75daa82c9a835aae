import { promises as fs } from 'node:fs';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod, PodStatus } from '../../../objects/apis/core/v1/pod.types.js';
import { hasText } from '../containers/has-text.js';
import { containerHash } from '../containers/hash.js';
import { hostNamesOf, hostsFile, wantsClusterDns } from '../containers/host-files.js';
import { sandboxConfigOf } from '../containers/sandbox-config.js';
import { terminationMessage } from '../containers/termination-message.js';
import type { ReadyVolume } from '../volumes/pod-volumes.js';
import { ContainerStarts } from './container-starts.js';
import { isIdle, type PodActions, podActions } from './pod-actions.js';
import type { PodAllocation, ResizeState } from './pod-allocation.js';
import type { PodEnd } from './pod-end.js';
import { podUid } from './pod-form.js';
import { PodKiller } from './pod-killer.js';
import { PodProbes } from './pod-probes.js';
import { PodResizer } from './pod-resizer.js';
import { podStatus } from './pod-status.js';
import {
  hasExited,
  isRunning,
  mayRun,
  nameOf,
  podAddressesOf,
  type RuntimeContainer,
  type RuntimePod,
  runsOf,
  usableSandbox,
} from './runtime-pod.js';
import { VolumePreparation } from './volume-preparation.js';
import type { PodDependencies } from './worker-dependencies.js';

/** The result of a turn: the pod continues, all of its containers have ended for good, or the node ends it. */
export type TurnOutcome = 'going-on' | 'ended' | PodEnd;

export interface StatusContext {
  readonly isOver: boolean;
  readonly isEnding: boolean;
  readonly end: PodEnd | undefined;
}

type Publish = (runtime: RuntimePod) => Promise<PodStatus>;

/** Ended runs of one container that are kept, for their logs. */
const keptRuns = 1;
/** The interval for checking whether others have made a volume or an object ready. */
const pendingMs = 1_000;
/** A failed resize is tried again after this time. */
const resizeMs = 10_000;
const noResize: ResizeState = { pending: undefined, inProgress: undefined };

/** Brings the containers of one pod to its declared state, one turn at a time. */
export class PodSync {
  private readonly probes: PodProbes;
  private readonly starts: ContainerStarts;
  private readonly resizer: PodResizer;
  private readonly volumes: VolumePreparation;
  private isRestartingAll = false;
  /** Whether this process has seen to the folder and the cgroup of the pod. */
  private isPrepared = false;
  private readonly messages = new Map<string, string | undefined>();
  private readonly killer: PodKiller;
  private readonly startTime: number;
  /** When the next turn is due without a change; undefined: never. */
  nextAt: number | undefined;

  constructor(
    private readonly dependencies: PodDependencies,
    pod: Pod,
    private readonly allocation: PodAllocation,
  ) {
    this.killer = new PodKiller(dependencies);
    this.probes = new PodProbes(dependencies, pod.status);
    this.starts = new ContainerStarts(dependencies);
    this.resizer = new PodResizer(dependencies, allocation);
    this.volumes = new VolumePreparation(dependencies);
    const known = pod.status?.startTime;
    this.startTime = known ? Date.parse(known) : dependencies.timers.now();
  }

  async turn(pod: Pod, reported: PodStatus | undefined, signal: AbortSignal, publish: Publish): Promise<TurnOutcome> {
    const { view, timers } = this.dependencies;
    this.nextAt = undefined;
    const over = this.deadlineProblem(pod);
    if (over !== undefined) return over;
    const of = [podUid(pod), pod.metadata.namespace, pod.metadata.name] as const;
    // Mostly there is nothing to do, and the last lists are enough to see that. Whatever is done is planned by the present state.
    let runtime = await view.latest(...of);
    if (await this.starts.resumeHooks(pod, runtime, this.addressesOf(pod, runtime), signal))
      runtime = await view.read(...of);
    let actions = this.plan(pod, runtime);
    if (!isIdle(actions)) {
      runtime = await view.read(...of);
      actions = this.plan(pod, runtime);
    }
    this.isRestartingAll = actions.resets.length > 0;
    await publish(runtime);
    if (actions.killAll && !actions.newSandbox) return 'ended';
    const refused = await this.dependencies.prepareDevices(pod);
    if (refused !== undefined) return refused;
    if (!this.isPrepared || !isIdle(actions) || this.allocation.state.inProgress !== undefined) {
      await this.dependencies.folders.make(podUid(pod));
      await this.resizer.prepareCgroup(pod);
      this.isPrepared = true;
    }
    const volumes = await this.volumes.prepare(pod, this.addressesOf(pod, runtime), signal);
    if (volumes === undefined) {
      this.wakeAt(timers.now() + pendingMs);
      return 'going-on';
    }
    const changed = await this.act(pod, runtime, reported, actions, volumes, signal);
    if (changed) runtime = await view.read(...of);
    this.probes.follow(pod, runtime);
    await publish(runtime);
    await this.removeOldRuns(runtime);
    if (!(await this.resizer.finish(pod, runtime))) this.wakeAt(timers.now() + resizeMs);
    // All containers are removed; the pod restarts at once.
    if (this.isRestartingAll) this.wakeAt(timers.now());
    const { activeDeadlineSeconds } = pod.spec;
    if (activeDeadlineSeconds) this.wakeAt(this.startTime + Number(activeDeadlineSeconds) * 1000);
    // A started container soon needs its next step, and one that has ended meanwhile is noticed at once.
    if (changed && actions.starts.length > 0) this.wakeAt(timers.now() + 1000);
    return 'going-on';
  }

  private plan(pod: Pod, runtime: RuntimePod): PodActions {
    this.probes.follow(pod, runtime);
    return podActions({
      pod,
      runtime,
      healthOf: (run) => this.probes.healthOf(run),
      hashOf: containerHash,
      resizeOf: ({ role, container }) =>
        role === 'ephemeral' ? 'none' : this.resizer.resizeOf(container as Container),
    });
  }

  private addressesOf(pod: Pod, runtime: RuntimePod): readonly string[] {
    return podAddressesOf(pod, runtime, this.dependencies.settings.hostIPs);
  }

  private wakeAt(at: number): void {
    this.nextAt = Math.min(this.nextAt ?? at, at);
  }

  private deadlineProblem({ spec }: Pod): PodEnd | undefined {
    const seconds = spec.activeDeadlineSeconds;
    if (!seconds || this.dependencies.timers.now() < this.startTime + Number(seconds) * 1000) return undefined;
    const message = 'Pod was active on the node longer than the specified deadline';
    this.dependencies.event('Normal', 'DeadlineExceeded', message);
    return { reason: 'DeadlineExceeded', message };
  }

  /** Carries out the planned actions, if there are any. Returns whether the runtime may have changed. */
  private async act(
    pod: Pod,
    runtime: RuntimePod,
    reported: PodStatus | undefined,
    actions: PodActions,
    volumes: ReadonlyMap<string, ReadyVolume>,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (isIdle(actions)) return false;
    const { view } = this.dependencies;
    const grace = Number(pod.spec.terminationGracePeriodSeconds ?? 30);
    let current = runtime;
    if (actions.killAll) {
      if (current.containers.some(mayRun)) await this.killer.stopContainers(pod, current, grace, signal);
      await this.killer.stopSandboxes(current);
    }
    for (const { run, message } of actions.kills) {
      const seconds = this.probes.graceSeconds(run) ?? grace;
      this.probes.drop(run.id);
      await this.killer.stop(pod, current, run, seconds, signal, message);
    }
    await this.reset(pod, current, actions.resets, signal);
    await this.resizer.update(pod, actions.updates);
    let sandboxId = usableSandbox(current)?.id;
    let podIPs = this.addressesOf(pod, current);
    const attempt = actions.newSandbox ? nextAttempt(current) : (usableSandbox(current)?.metadata?.attempt ?? 0);
    const sandbox = await sandboxConfigOf(pod, attempt, this.dependencies.settings, this.dependencies.folders);
    if (actions.newSandbox) {
      sandboxId = await this.makeSandbox(pod, sandbox, signal);
      current = await view.read(podUid(pod), pod.metadata.namespace, pod.metadata.name);
      podIPs = this.addressesOf(pod, current);
    }
    if (sandboxId === undefined) return actions.killAll || actions.kills.length > 0;
    if (actions.starts.length > 0) await this.writeHosts(pod, podIPs);
    for (const start of actions.starts) {
      const { name, resources } = start.declared.container as Container;
      await this.allocation.gave({ [name]: resources });
      const request = { pod, start, runtime: current, sandboxId, sandbox, podIPs, volumes, signal };
      const again = await this.starts.start(request, reported);
      if (again !== undefined) this.wakeAt(again);
    }
    return true;
  }

  /** Ends and removes runs, without waiting for them to end, so that the whole pod restarts. Its sandbox stays. */
  private async reset(
    pod: Pod,
    runtime: RuntimePod,
    runs: readonly RuntimeContainer[],
    signal: AbortSignal,
  ): Promise<void> {
    for (const run of runs) {
      this.probes.drop(run.id);
      if (mayRun(run)) await this.killer.stop(pod, runtime, run, 0, signal, 'killing');
      await this.dependencies.runtime.removeContainer(run.id);
    }
  }

  private async makeSandbox(pod: Pod, sandbox: Awaited<ReturnType<typeof sandboxConfigOf>>, signal: AbortSignal) {
    const { runtime, event, folders } = this.dependencies;
    const { namespace = '', name = '' } = pod.metadata;
    if (wantsClusterDns(pod) && this.dependencies.settings.clusterDns.length === 0) {
      const message =
        `pod: "${name}_${namespace}(${podUid(pod)})". kubelet does not have ClusterDNS IP configured and cannot create Pod ` +
        `using "${pod.spec.dnsPolicy}" policy. Falling back to "Default" policy.`;
      event('Warning', 'MissingClusterDNS', message);
    }
    try {
      await fs.mkdir(folders.podLogs(namespace, name, podUid(pod)), { recursive: true, mode: 0o755 });
      return await runtime.runSandbox(sandbox, await this.dependencies.handlerOf(pod), signal);
    } catch (error) {
      signal.throwIfAborted();
      event('Warning', 'FailedCreatePodSandBox', `Failed to create pod sandbox: ${(error as Error).message}`);
      throw error;
    }
  }

  /** Renewed on each start of the pod; containers see the same file. */
  private async writeHosts(pod: Pod, podIPs: readonly string[]): Promise<void> {
    const { folders, settings } = this.dependencies;
    const ofHost = pod.spec.hostNetwork ? await fs.readFile('/etc/hosts', 'utf8').catch(() => '') : undefined;
    const names = hostNamesOf(pod, settings.nodeName, settings.clusterDomain);
    const text = hostsFile(pod, names, podIPs, ofHost);
    const path = folders.hosts(podUid(pod));
    // Written in place, since a container has the file mounted.
    if (!(await hasText(path, text))) await fs.writeFile(path, text, { mode: 0o644 });
  }

  stopProbes(): void {
    this.probes.stop();
  }

  async status(
    pod: Pod,
    runtime: RuntimePod,
    before: PodStatus | undefined,
    { isOver, isEnding, end }: StatusContext,
  ): Promise<PodStatus> {
    const { settings, timers, folders, runtimeName } = this.dependencies;
    const { namespace = '', name = '' } = pod.metadata;
    const logFolder = folders.podLogs(namespace, name, podUid(pod));
    for (const run of runtime.containers) {
      if (hasExited(run) && !this.messages.has(run.id))
        this.messages.set(run.id, await terminationMessage(run, logFolder));
    }
    return podStatus({
      ...{ pod, runtime, before, end, isOver },
      isRestartingAll: this.isRestartingAll && !isEnding,
      resize: isOver ? noResize : this.allocation.state,
      actualOf: (container) => this.allocation.actual(container),
      runtimeName: runtimeName(),
      problemOf: (container) => (isEnding ? undefined : this.starts.problemOf(container)),
      isStarted: (run) => this.probes.isStarted(run),
      isReady: (run) => this.probes.isReady(run),
      terminationMessageOf: (run) => this.messages.get(run.id),
      hostIPs: settings.hostIPs(),
      startTime: this.startTime,
      now: timers.now(),
    });
  }

  /** Removes runs that ended before the last one, with their logs, and sandboxes that are no longer used. */
  private async removeOldRuns(runtime: RuntimePod): Promise<void> {
    const { runtime: cri } = this.dependencies;
    const kept = new Set<string>();
    for (const name of new Set(runtime.containers.map(nameOf))) {
      const dead = runsOf(runtime, name).filter((run) => !isRunning(run));
      for (const run of dead.slice(keptRuns)) await cri.removeContainer(run.id);
      for (const run of [...runsOf(runtime, name).filter(isRunning), ...dead.slice(0, keptRuns)])
        kept.add(run.sandboxId);
    }
    for (const { id } of runtime.sandboxes.slice(1)) if (!kept.has(id)) await cri.removeSandbox(id);
    const live = new Set(runtime.containers.map(({ id }) => id));
    for (const id of this.messages.keys()) if (!live.has(id)) this.messages.delete(id);
  }
}

function nextAttempt({ sandboxes }: RuntimePod): number {
  const [newest] = sandboxes;
  return newest === undefined ? 0 : (newest.metadata?.attempt ?? 0) + 1;
}
