import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod, PodStatus } from '../../../objects/apis/core/v1/pod.types.js';
import { StartFailure } from '../images/start-failure.js';
import type { StartProblem } from './container-statuses.js';
import type { ContainerStart } from './pod-actions.js';
import { declaredContainers, podUid } from './pod-form.js';
import { containerPath } from './pod-killer.js';
import { hasExited, isRunning, millisOf, type RuntimePod, runsOf } from './runtime-pod.js';
import type { PodDependencies } from './worker-dependencies.js';

/** A start that failed for a reason other than an image is tried again after this time. */
const retryMs = 5_000;

/** Starts the containers of one pod, with pauses between those that end too soon. */
export class ContainerStarts {
  private readonly problems = new Map<string, StartProblem>();
  /** Runs of which it is known that no hook is to run. */
  private readonly hooked = new Set<string>();

  constructor(private readonly dependencies: PodDependencies) {}

  /** Why the last start of a container failed. */
  problemOf(container: string): StartProblem | undefined {
    return this.problems.get(container);
  }

  /**
   * Runs the hooks of running containers that an earlier process of the agent has left. Returns whether one has failed, so
   * that its container was ended.
   */
  async resumeHooks(pod: Pod, runtime: RuntimePod, podIPs: readonly string[], signal: AbortSignal): Promise<boolean> {
    const { starter, event } = this.dependencies;
    let hasFailed = false;
    for (const { container } of declaredContainers(pod)) {
      const [run] = runsOf(runtime, container.name);
      if (!container.lifecycle?.postStart || run === undefined || !isRunning(run) || this.hooked.has(run.id)) continue;
      const path = containerPath(pod, container.name);
      try {
        await starter.resumePostStart({
          ...{ pod, podIPs, signal, id: run.id },
          container: container as Container,
          event: (type, reason, message) => event(type, reason, message, path),
        });
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof StartFailure)) throw error;
        this.problems.set(container.name, error.problem);
        hasFailed = true;
      }
      this.hooked.add(run.id);
    }
    return hasFailed;
  }

  /** Starts a container, unless it has to wait. Returns when to look again; undefined: when the pod changes. */
  async start(
    request: Omit<Parameters<PodDependencies['starter']['start']>[0], 'event'>,
    reported: PodStatus | undefined,
  ): Promise<number | undefined> {
    const { pod, start, signal } = request;
    const { starter, timers, backOff, event } = this.dependencies;
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
        return until;
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
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof StartFailure)) throw error;
      this.problems.set(name, error.problem);
      if (error.isOfImage) event('Warning', 'Failed', `Error: ${error.problem.reason}`, path);
      return error.retryAt ?? timers.now() + retryMs;
    }
  }
}

function restartsOf(status: PodStatus | undefined, name: string): number | undefined {
  const all = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  const known = all.find((each) => each.name === name);
  if (known === undefined) return undefined;
  if (known.containerID) return known.restartCount;
  // The next run was counted already when the failed one was given up.
  return known.lastState.terminated ? known.restartCount - 1 : undefined;
}

/** Formats a duration: `300s` as `5m0s`. */
function formatPause(text: string): string {
  const seconds = Number.parseInt(text, 10);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
