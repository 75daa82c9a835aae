import type { ApiObject } from '../../base/machinery/api-object.js';
import { Backoff } from '../../base/machinery/backoff.js';
import type { Timers } from '../../base/machinery/timers.js';
import type { Logger } from '../../base/observability/logger.js';
import type { Pod, PodStatus } from '../../objects/apis/core/v1/pod.types.js';
import type { ApiUser } from '../connection/api-connection.js';
import { ApiError } from '../connection/api-error.js';
import type { ContainerEvent, SimulatedBackOff } from './container-run.js';
import type { PodAddresses } from './pod-addresses.js';
import { PodMachine } from './pod-machine.js';
import { type PodPlan, planOf } from './pod-plan.js';
import type { CapacityCheck } from './pod-resizing.js';

export interface PodRunnerDependencies {
  readonly api: ApiUser;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly backOff: SimulatedBackOff;
  readonly hostIP: string;
  readonly addresses: PodAddresses;
  /** Receives the events of a pod. */
  readonly record: (pod: PodPlan, happening: ContainerEvent) => void;
  /** Resolves when the volumes of a pod are attached; undefined: it needs none. Rejects after the abort only. */
  readonly attached: (pod: Pod) => Promise<void> | undefined;
  /** Whether the node has the resources for a resize, by the pod's uid. */
  readonly checkCapacity: (uid: string) => CapacityCheck;
  /** All containers of the pod have ended. */
  readonly ended: (uid: string) => void;
  readonly signal: AbortSignal;
}

const firstPauseMs = 200;
const longestPauseMs = 30_000;
/**
 * A write that others overwrite again and again is repeated at these intervals at most: otherwise two writers that
 * disagree would never stop.
 */
const repeatMs = 10_000;
/** A fixed reason for aborts: without one, every abort would create an error with a stack trace. */
const wakeReason = 'woken';

/**
 * Runs one pod and reports to the API. At most one request is under way; changes meanwhile are sent with the next. When
 * a pod that is being deleted has ended, its last status is reported and then it is removed.
 */
export class PodRunner {
  readonly machine: PodMachine;
  private reported = '';
  private reportedReadiness = '';
  /** The conditions about a resize that the API shows. */
  private reportedResize: readonly string[];
  /** The version that the last write made, and the newest version seen with what it shows of the pod. */
  private reportedVersion = 0n;
  private seen = { version: 0n, readiness: '' };
  /** When a status that was contradicted may be repeated, in milliseconds since the epoch. */
  private repeatAt = 0;
  private isWorking = false;
  private isGone = false;
  private hasEnded = false;
  private wake: AbortController | undefined;

  /** @param wasOver whether the pod ended before this process knew it, so that it only waits for its deletion */
  constructor(
    private readonly dependencies: PodRunnerDependencies,
    pod: Pod,
    private readonly wasOver: boolean,
  ) {
    const plan = planOf(pod);
    const podIP = plan.hostNetwork ? hostNetworkIP(dependencies) : dependencies.addresses.take(pod.status?.podIP);
    this.machine = new PodMachine(
      plan,
      {
        ...dependencies,
        podIP,
        record: (happening) => dependencies.record(this.plan, happening),
        checkCapacity: dependencies.checkCapacity(plan.uid),
      },
      pod.status,
      dependencies.timers.now(),
    );
    this.reportedResize = resizeConditions(pod.status);
    if (!wasOver) this.hold(pod);
    this.changed(plan);
  }

  /** Keeps containers from beginning until the volumes are available; those that already run continue. */
  private hold(pod: Pod): void {
    const attached = this.dependencies.attached(pod);
    if (attached === undefined) return;
    this.machine.isHeld = !(pod.status?.containerStatuses ?? []).some(({ state }) => state?.running !== undefined);
    attached.then(
      () => {
        this.machine.isHeld = false;
        if (!this.isGone) this.changed(this.plan);
      },
      () => undefined,
    );
  }

  private get plan(): PodPlan {
    return this.machine.plan;
  }

  /** Takes a change of the pod. */
  update(pod: Pod): void {
    const plan = planOf(pod);
    const version = BigInt(pod.metadata.resourceVersion ?? 0);
    if (version > this.seen.version) this.seen = { version, readiness: readiness(pod.status) };
    this.machine.update(plan, this.dependencies.timers.now());
    this.changed(plan);
  }

  /** Tries a waiting resize again, as the node may have the resources now. */
  retryResize(): void {
    if (this.isGone || this.wasOver || !this.machine.resizing.isOpen(this.plan)) return;
    this.machine.considerResize(this.dependencies.timers.now());
    this.changed(this.plan);
  }

  /** Stops the runner of a pod that is gone from the API. */
  forget(): void {
    this.isGone = true;
    this.wake?.abort(wakeReason);
    if (!this.plan.hostNetwork) this.dependencies.addresses.give(this.machine.podIP);
  }

  private changed({ deletionGraceMs }: PodPlan): void {
    if (deletionGraceMs !== undefined) this.machine.stop(this.dependencies.timers.now(), deletionGraceMs);
    this.wake?.abort(wakeReason);
    if (!this.isWorking) {
      this.isWorking = true;
      void this.work();
    }
  }

  /** Brings the API up to date, repeatedly, until nothing more will happen by itself. */
  private async work(): Promise<void> {
    const { timers, logger, signal } = this.dependencies;
    const backoff = new Backoff({ firstMs: firstPauseMs, longestMs: longestPauseMs });
    while (!this.isGone && !signal.aborted) {
      this.wake = new AbortController();
      const woken = AbortSignal.any([this.wake.signal, signal]);
      try {
        if (!(await this.reportStatus())) break;
        backoff.reset();
      } catch (error) {
        if (signal.aborted) break;
        const { namespace, name } = this.plan;
        logger.debug('a simulated node could not write yet', { namespace, name, error });
        await timers.wait(backoff.next(), signal);
        continue;
      }
      if (this.wake.signal.aborted) continue;
      const { nextAt } = this;
      // Any later change starts the work again.
      if (nextAt === undefined) break;
      await timers.wait(Math.max(0, nextAt - timers.now()), woken);
    }
    this.isWorking = false;
  }

  /** When there is something to do that no event announces; undefined: never. */
  private get nextAt(): number | undefined {
    const { nextAt } = this.machine;
    return this.isContradicted && !this.wasOver ? Math.min(nextAt ?? this.repeatAt, this.repeatAt) : nextAt;
  }

  /** Returns false when there is nothing more to do for the pod. */
  private async reportStatus(): Promise<boolean> {
    const { timers } = this.dependencies;
    const { machine } = this;
    const now = timers.now();
    machine.advance(now);
    if (machine.isOver && !this.hasEnded) {
      this.hasEnded = true;
      this.dependencies.ended(machine.plan.uid);
    }
    const { namespace, name, uid, deletionGraceMs } = machine.plan;
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    if (!this.wasOver) {
      const status = machine.status(now);
      const text = JSON.stringify(status);
      const isRepeated = this.isContradicted && now >= this.repeatAt;
      if (text !== this.reported || isRepeated) {
        if (isRepeated) this.repeatAt = now + repeatMs;
        const ended = this.conditionsGoneFrom(status);
        const patch = patchOf(status, ended);
        const written = await this.write('PATCH', `${path}/status`, { metadata: { uid }, status: patch });
        if (written === undefined) return false;
        this.reportedResize = resizeConditions(status);
        this.reported = text;
        this.reportedVersion = BigInt(written.metadata.resourceVersion ?? 0);
        this.reportedReadiness = readiness(status);
      }
    }
    if (deletionGraceMs === undefined || !(machine.isOver || this.wasOver)) return true;
    await this.write('DELETE', path, { gracePeriodSeconds: 0, preconditions: { uid } });
    return false;
  }

  /**
   * Whether somebody wrote another state after this write, for example marked the node as dead or restored an old
   * state. The watch event about that may arrive before the response to this write.
   */
  private get isContradicted(): boolean {
    const { version, readiness: now } = this.seen;
    return this.reported !== '' && version > this.reportedVersion && now !== this.reportedReadiness;
  }

  private conditionsGoneFrom(status: PodStatus): readonly string[] {
    const now = resizeConditions(status);
    return this.reportedResize.filter((type) => !now.includes(type));
  }

  /** Returns undefined when the pod is gone or another one has its name. */
  private async write(method: string, path: string, body: object): Promise<ApiObject | undefined> {
    const contentType = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json';
    try {
      return await this.dependencies.api.send(method, path, { body, contentType, signal: this.dependencies.signal });
    } catch (error) {
      if (error instanceof ApiError && (error.status === 404 || error.status === 409)) return undefined;
      throw error;
    }
  }
}

/** The conditions by which other programs judge the pod, as one string. */
function readiness(status: PodStatus | undefined): string {
  const of = (wanted: string) => status?.conditions?.find(({ type }) => type === wanted)?.status;
  return `${of('Ready')} ${of('ContainersReady')}`;
}

/** A patch with the status, which removes addresses and conditions that the pod no longer has. */
function patchOf(status: PodStatus, ended: readonly string[]): object {
  return {
    ...status,
    conditions: [...(status.conditions ?? []), ...ended.map((type) => ({ $patch: 'delete', type }))],
    podIPs: [{ $patch: 'replace' }, ...(status.podIPs ?? [])],
    // The node may have had another address when it last wrote.
    hostIPs: [{ $patch: 'replace' }, ...(status.hostIPs ?? [])],
  };
}

/** The conditions of a status that come and go with a resize. */
function resizeConditions(status: PodStatus | undefined): readonly string[] {
  return (status?.conditions ?? []).flatMap(({ type }) => (type.startsWith('PodResize') ? [type] : []));
}

/**
 * The address of pods in the network of their node. Endpoints may not lead to the machine on which they are read, which
 * is the nodes' machine unless configured otherwise.
 */
function hostNetworkIP({ hostIP, addresses }: PodRunnerDependencies): string {
  return /^(127\.|::1$)/.test(hostIP) ? addresses.ofNode : hostIP;
}
