import { promises as fs } from 'node:fs';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod, PodStatus } from '../../../objects/apis/core/v1/pod.types.js';
import { terminationMessage } from '../containers/container-starter.js';
import { containerHash } from '../containers/hash.js';
import { hostNamesOf, hostsFile, wantsClusterDns } from '../containers/host-files.js';
import { sandboxConfigOf } from '../containers/sandbox-config.js';
import { StartFailure } from '../images/image-puller.js';
import { RunProbes } from '../probes/prober.js';
import { VolumeProblem } from '../volumes/volume-sources.js';
import type { StartProblem } from './container-statuses.js';
import { type ContainerStart, type PodActions, podActions, type RunHealth } from './pod-actions.js';
import type { PodEnd } from './pod-end.js';
import { declaredContainers, podUid } from './pod-form.js';
import { containerPath, PodKiller } from './pod-killer.js';
import { podStatus } from './pod-status.js';
import {
  addressesOf,
  hasExited,
  isRunning,
  mayRun,
  millisOf,
  nameOf,
  type RuntimeContainer,
  type RuntimePod,
  runsOf,
  usableSandbox,
} from './runtime-pod.js';
import type { PodDependencies } from './worker-dependencies.js';

/** What a turn came to: the pod goes on, all of it has ended for good, or the node ends it. */
export type TurnOutcome = 'going-on' | 'ended' | PodEnd;

export interface StatusContext {
  readonly isOver: boolean;
  readonly isEnding: boolean;
  readonly end: PodEnd | undefined;
}

type Publish = (runtime: RuntimePod) => Promise<PodStatus>;

/** Dead runs of one container that are kept, for their logs. */
const keptRuns = 1;
/** A start that failed for another reason than an image is tried again after this. */
const retryMs = 5_000;

/** Brings the containers of one pod to what its declaration wants, a turn at a time. */
export class PodSync {
  private readonly probes = new Map<string, RunProbes>();
  private readonly problems = new Map<string, StartProblem>();
  private readonly messages = new Map<string, string | undefined>();
  private readonly killer: PodKiller;
  /** The status that the API had when this process began with the pod. */
  private readonly adopted: PodStatus | undefined;
  private readonly startTime: number;
  /** When the next turn is due by itself; undefined: only when something changes. */
  nextAt: number | undefined;

  constructor(
    private readonly parts: PodDependencies,
    pod: Pod,
  ) {
    this.killer = new PodKiller(parts);
    this.adopted = pod.status;
    const known = pod.status?.startTime;
    this.startTime = known ? Date.parse(known) : parts.timers.now();
  }

  async turn(pod: Pod, reported: PodStatus | undefined, signal: AbortSignal, publish: Publish): Promise<TurnOutcome> {
    const { view, timers } = this.parts;
    this.nextAt = undefined;
    const over = this.deadlineProblem(pod);
    if (over !== undefined) return over;
    let runtime = await view.read(podUid(pod), pod.metadata.namespace, pod.metadata.name);
    this.follow(pod, runtime);
    const actions = podActions({
      pod,
      runtime,
      healthOf: (run) => this.healthOf(run),
      hashOf: containerHash,
    });
    await publish(runtime);
    if (actions.killAll && !actions.newSandbox) return 'ended';
    const volumes = await this.prepare(pod, runtime, signal);
    const changed = await this.act(pod, runtime, reported, actions, volumes, signal);
    if (changed) runtime = await view.read(podUid(pod), pod.metadata.namespace, pod.metadata.name);
    this.follow(pod, runtime);
    await publish(runtime);
    await this.removeOldRuns(runtime);
    const { activeDeadlineSeconds } = pod.spec;
    if (activeDeadlineSeconds) this.wakeAt(this.startTime + Number(activeDeadlineSeconds) * 1000);
    // What was started has its next step soon, and what has ended meanwhile is seen at once.
    if (changed && actions.starts.length > 0) this.wakeAt(timers.now() + 1000);
    return 'going-on';
  }

  private wakeAt(at: number): void {
    this.nextAt = Math.min(this.nextAt ?? at, at);
  }

  private deadlineProblem({ spec }: Pod): PodEnd | undefined {
    const seconds = spec.activeDeadlineSeconds;
    if (!seconds || this.parts.timers.now() < this.startTime + Number(seconds) * 1000) return undefined;
    const message = 'Pod was active on the node longer than the specified deadline';
    this.parts.event('Normal', 'DeadlineExceeded', message);
    return { reason: 'DeadlineExceeded', message };
  }

  /** Makes folders, cgroup and volumes, or brings them up to date. */
  private async prepare(pod: Pod, runtime: RuntimePod, signal: AbortSignal) {
    const { folders, cgroups, settings, event } = this.parts;
    const uid = podUid(pod);
    await folders.make(uid);
    if (settings.podsCgroup !== undefined) await cgroups.makePod(pod, settings.podsCgroup, settings.cfsQuotaPeriodMs);
    try {
      return await this.parts.prepareVolumes(pod, addressesOf(usableSandbox(runtime)));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof VolumeProblem) event('Warning', 'FailedMount', error.message);
      throw error;
    }
  }

  /** Does what the plan says. Returns whether anything was done. */
  private async act(
    pod: Pod,
    runtime: RuntimePod,
    reported: PodStatus | undefined,
    actions: PodActions,
    volumes: Awaited<ReturnType<PodSync['prepare']>>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { view } = this.parts;
    const grace = Number(pod.spec.terminationGracePeriodSeconds ?? 30);
    let current = runtime;
    if (actions.killAll) {
      if (current.containers.some(mayRun)) await this.killer.stopContainers(pod, current, grace, signal);
      await this.killer.stopSandboxes(current);
    }
    for (const { run, message } of actions.kills) {
      const seconds = this.probes.get(run.id)?.graceSeconds ?? grace;
      this.dropProbes(run.id);
      await this.killer.stop(pod, current, run, seconds, signal, message);
    }
    let sandboxId = usableSandbox(current)?.id;
    let podIPs = addressesOf(usableSandbox(current));
    const attempt = actions.newSandbox ? nextAttempt(current) : (usableSandbox(current)?.metadata?.attempt ?? 0);
    const sandbox = await sandboxConfigOf(pod, attempt, this.parts.settings, this.parts.folders);
    if (actions.newSandbox) {
      sandboxId = await this.makeSandbox(pod, sandbox, signal);
      current = await view.read(podUid(pod), pod.metadata.namespace, pod.metadata.name);
      podIPs = addressesOf(usableSandbox(current));
    }
    if (sandboxId === undefined) return actions.killAll || actions.kills.length > 0;
    if (actions.starts.length > 0) await this.writeHosts(pod, podIPs);
    for (const start of actions.starts) {
      const request = { pod, start, runtime: current, sandboxId, sandbox, podIPs, volumes, signal };
      await this.start(request, reported);
    }
    return true;
  }

  private async makeSandbox(pod: Pod, sandbox: Awaited<ReturnType<typeof sandboxConfigOf>>, signal: AbortSignal) {
    const { runtime, event, folders } = this.parts;
    const { namespace = '', name = '' } = pod.metadata;
    if (wantsClusterDns(pod) && this.parts.settings.clusterDns.length === 0) {
      const message =
        `pod: "${name}_${namespace}(${podUid(pod)})". kubelet does not have ClusterDNS IP configured and cannot create Pod ` +
        `using "${pod.spec.dnsPolicy}" policy. Falling back to "Default" policy.`;
      event('Warning', 'MissingClusterDNS', message);
    }
    try {
      await fs.mkdir(folders.podLogs(namespace, name, podUid(pod)), { recursive: true, mode: 0o755 });
      return await runtime.runSandbox(sandbox, await this.parts.handlerOf(pod), signal);
    } catch (error) {
      signal.throwIfAborted();
      event('Warning', 'FailedCreatePodSandBox', `Failed to create pod sandbox: ${(error as Error).message}`);
      throw error;
    }
  }

  /** Renewed while the pod starts; containers see the same file. */
  private async writeHosts(pod: Pod, podIPs: readonly string[]): Promise<void> {
    const { folders, settings } = this.parts;
    const ofHost = pod.spec.hostNetwork ? await fs.readFile('/etc/hosts', 'utf8').catch(() => '') : undefined;
    const names = hostNamesOf(pod, settings.nodeName, settings.clusterDomain);
    const text = hostsFile(pod, names, podIPs, ofHost);
    const path = folders.hosts(podUid(pod));
    // Written in place: a container has it mounted.
    if ((await fs.readFile(path, 'utf8').catch(() => '')) !== text) await fs.writeFile(path, text, { mode: 0o644 });
  }

  private async start(
    request: Omit<Parameters<PodDependencies['starter']['start']>[0], 'event'>,
    reported: PodStatus | undefined,
  ): Promise<void> {
    const { pod, start, signal } = request;
    const { starter, timers, backOff, event } = this.parts;
    const { name } = start.declared.container;
    const key = `${podUid(pod)} ${name}`;
    const path = containerPath(pod, name);
    const now = timers.now();
    if (start.before !== undefined && hasExited(start.before)) {
      const since = millisOf(start.before.finishedAt);
      const until = backOff.endAfter(key, since);
      if (until !== undefined && until > now) {
        const { namespace = '', name: podName = '' } = pod.metadata;
        const which = `container=${name} pod=${podName}_${namespace}(${podUid(pod)})`;
        const pause = `${Math.round(backOff.pauseMs(key) / 1000)}s`;
        event(
          'Warning',
          'BackOff',
          `Back-off restarting failed container ${name} in pod ${podName}_${namespace}(${podUid(pod)})`,
          path,
        );
        this.problems.set(name, {
          reason: 'CrashLoopBackOff',
          message: `back-off ${formatPause(pause)} restarting failed ${which}`,
        });
        this.wakeAt(until);
        return;
      }
      backOff.next(key, since);
    }
    try {
      const restarts = start.before === undefined ? restartsOf(reported, name) : undefined;
      await starter.start({
        ...request,
        start: { ...start, reportedRestarts: restarts } as ContainerStart,
        event: (type, reason, message) => event(type, reason, message, path),
      });
      this.problems.delete(name);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof StartFailure)) throw error;
      this.problems.set(name, error.problem);
      if (error.isOfImage) event('Warning', 'Failed', `Error: ${error.problem.reason}`, path);
      this.wakeAt(error.retryAt ?? timers.now() + retryMs);
    }
  }

  private healthOf(run: RuntimeContainer): RunHealth {
    const probes = this.probes.get(run.id);
    return { failed: probes?.failed, isStarted: probes?.isStarted ?? true };
  }

  /** Begins to probe what runs, and stops with what has ended. */
  private follow(pod: Pod, runtime: RuntimePod): void {
    const running = new Set(runtime.containers.filter(isRunning).map(({ id }) => id));
    for (const id of this.probes.keys()) if (!running.has(id)) this.dropProbes(id);
    for (const { role, container } of declaredContainers(pod)) {
      if (role === 'init' || role === 'ephemeral') continue;
      const [run] = runsOf(runtime, container.name);
      if (run === undefined || !isRunning(run) || this.probes.has(run.id)) continue;
      const known = [...(this.adopted?.containerStatuses ?? []), ...(this.adopted?.initContainerStatuses ?? [])].find(
        ({ containerID }) => containerID?.endsWith(run.id),
      );
      const probes = new RunProbes(this.parts.prober, {
        run,
        container: container as Container,
        address: () => addressesOf(usableSandbox(runtime))[0] ?? this.parts.settings.hostIPs()[0] ?? '',
        event: (type, reason, message) => this.parts.event(type, reason, message, containerPath(pod, container.name)),
        changed: this.parts.changed,
        before: known && { isStarted: known.started === true, isReady: known.ready },
      });
      this.probes.set(run.id, probes);
    }
  }

  private dropProbes(id: string): void {
    this.probes.get(id)?.stop();
    this.probes.delete(id);
  }

  stopProbes(): void {
    for (const id of [...this.probes.keys()]) this.dropProbes(id);
  }

  async status(
    pod: Pod,
    runtime: RuntimePod,
    before: PodStatus | undefined,
    { isOver, isEnding, end }: StatusContext,
  ): Promise<PodStatus> {
    const { settings, timers, folders, runtimeName } = this.parts;
    const { namespace = '', name = '' } = pod.metadata;
    const logFolder = folders.podLogs(namespace, name, podUid(pod));
    for (const run of runtime.containers) {
      if (hasExited(run) && !this.messages.has(run.id))
        this.messages.set(run.id, await terminationMessage(run, logFolder));
    }
    return podStatus({
      ...{ pod, runtime, before, end, isOver },
      runtimeName: runtimeName(),
      problemOf: (container) => (isEnding ? undefined : this.problems.get(container)),
      isStarted: (run) => this.probes.get(run.id)?.isStarted ?? true,
      isReady: (run) => this.probes.get(run.id)?.isReady ?? true,
      terminationMessageOf: (run) => this.messages.get(run.id),
      hostIPs: settings.hostIPs(),
      startTime: this.startTime,
      now: timers.now(),
    });
  }

  /** Runs that ended before the last one go, with their logs; so do sandboxes that are no longer used. */
  private async removeOldRuns(runtime: RuntimePod): Promise<void> {
    const { runtime: cri } = this.parts;
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

function restartsOf(status: PodStatus | undefined, name: string): number | undefined {
  const all = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  const known = all.find((each) => each.name === name);
  return known?.containerID ? known.restartCount : undefined;
}

/** `300s` -> `5m0s`. */
function formatPause(text: string): string {
  const seconds = Number.parseInt(text, 10);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
