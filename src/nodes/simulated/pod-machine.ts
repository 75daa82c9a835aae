import type { ContainerStatus } from '../../objects/apis/core/v1/container-status.types.js';
import type { PodStatus } from '../../objects/apis/core/v1/pod.types.js';
import { type ContainerEvent, type ContainerPlan, ContainerRun, type SimulatedBackOff } from './container-run.js';
import { type Conditions, describePod } from './pod-conditions.js';
import type { PodPlan } from './pod-plan.js';
import { type CapacityCheck, PodResizing } from './pod-resizing.js';
import type { PodState, SimulatedPodEnd } from './pod-state.js';

export interface MachineDependencies {
  readonly backOff: SimulatedBackOff;
  /** Addresses of the node and of the pod. */
  readonly hostIP: string;
  readonly podIP: string;
  /** Receives the events of the pod. */
  readonly record: (happening: ContainerEvent) => void;
  /** Whether the node has the resources for a resize of the pod. Default: it has. */
  readonly checkCapacity?: CapacityCheck;
}

/**
 * A pod on a node as a function of time. Init containers run one after another, a sidecar until it runs; then all
 * containers run, and when all have ended, the sidecars stop. `stop` ends everything within the pod's grace period.
 */
export class PodMachine implements PodState {
  plan: PodPlan;
  readonly inits: readonly ContainerRun[];
  readonly apps: readonly ContainerRun[];
  private readonly ephemerals: ContainerRun[] = [];
  isInitialized = false;
  hasFailedInit = false;
  isStopping = false;
  end: SimulatedPodEnd | undefined;
  /** Whether the pod's volumes are not available yet: no container begins. */
  isHeld = false;
  private stopped = false;
  private readonly startTime: number;
  private readonly conditions: Conditions = new Map();
  readonly podIP: string;
  readonly resizing: PodResizing;

  /** @param known the status in the API; the state that an earlier process reported continues */
  constructor(
    plan: PodPlan,
    private readonly dependencies: MachineDependencies,
    known: PodStatus | undefined,
    now: number,
  ) {
    this.plan = plan;
    this.podIP = dependencies.podIP;
    this.resizing = new PodResizing(plan, known, dependencies.record);
    this.startTime = known?.startTime ? Date.parse(known.startTime) : now;
    this.inits = plan.inits.map((container) => this.containerRun(container, known?.initContainerStatuses));
    this.apps = plan.apps.map((container) => this.containerRun(container, known?.containerStatuses));
    for (const { type, status, lastTransitionTime } of known?.conditions ?? []) {
      const since = lastTransitionTime ? Date.parse(lastTransitionTime) : now;
      this.conditions.set(type, { status, since });
    }
    this.addEphemerals(plan, known?.ephemeralContainerStatuses);
  }

  private containerRun(plan: ContainerPlan, known: readonly ContainerStatus[] | undefined): ContainerRun {
    const run = new ContainerRun(plan, this.plan, this.dependencies.backOff, this.dependencies.record);
    const status = known?.find(({ name }) => name === plan.name);
    if (status !== undefined) run.adopt(status);
    return run;
  }

  private addEphemerals(plan: PodPlan, known?: readonly ContainerStatus[]): void {
    for (const container of plan.ephemerals) {
      if (this.ephemerals.some((run) => run.plan.name === container.name)) continue;
      this.ephemerals.push(this.containerRun(container, known));
    }
  }

  /**
   * Takes a change of the pod: its annotations, its ephemeral containers, its deletion or conditions that others set.
   */
  update(plan: PodPlan, now: number): void {
    this.plan = plan;
    this.addEphemerals(plan);
    const plans = new Map([...plan.inits, ...plan.apps, ...plan.ephemerals].map((each) => [each.name, each]));
    for (const run of this.all()) run.plan = plans.get(run.plan.name) ?? run.plan;
    this.considerResize(now);
  }

  /** Resizes the pod if its spec asks for that and the node has the resources. */
  considerResize(now: number): void {
    if (this.stopped || this.isStopping) return;
    this.resizing.consider(this.plan, now, this.dependencies.checkCapacity ?? (() => undefined));
  }

  private all(): ContainerRun[] {
    return [...this.inits, ...this.apps, ...this.ephemerals];
  }

  /** Asks all containers to end. */
  stop(now: number, graceMs: number, end?: SimulatedPodEnd): void {
    if (this.isStopping) return;
    this.end = end;
    this.isStopping = true;
    for (const run of this.all()) run.stop(now, graceMs);
  }

  /** Whether all containers have ended for good. */
  get isOver(): boolean {
    return this.stopped;
  }

  /** The containers that run. */
  running(): ContainerRun[] {
    return this.all().filter(({ runningSince }) => runningSince !== undefined);
  }

  container(name: string): ContainerRun | undefined {
    return this.all().find(({ plan }) => plan.name === name);
  }

  /** When something happens next; undefined: nothing does by itself. */
  get nextAt(): number | undefined {
    if (this.stopped) return undefined;
    let next = least(this.deadline, this.resizing.nextAt);
    for (const run of this.all()) {
      const at = run.nextAt;
      if (at !== undefined && (next === undefined || at < next)) next = at;
    }
    return next;
  }

  private get deadline(): number | undefined {
    const { deadlineMs } = this.plan;
    return deadlineMs === undefined || this.isStopping ? undefined : this.startTime + deadlineMs;
  }

  /** Does everything that is due by `now`, in order. */
  advance(now: number): void {
    if (this.stopped) return;
    const { deadline } = this;
    if (deadline !== undefined && deadline <= now) {
      const message = 'Pod was active on the node longer than the specified deadline';
      this.stop(now, 0, { reason: 'DeadlineExceeded', message });
    }
    for (const name of this.resizing.advance(now)) this.container(name)?.restart(now);
    if (this.isHeld && !this.isStopping) return;
    this.advanceInits(now);
    if (this.isInitialized || this.isStopping) {
      for (const run of [...this.apps, ...this.ephemerals]) {
        if (!this.isStopping) run.begin(now);
        run.step(now);
      }
    }
    if (this.hasFailedInit) for (const run of this.inits) run.stop(now, 0);
    const appsEnded = this.hasFailedInit || this.apps.every((run) => run.isEnded);
    if (!appsEnded) return;
    for (const run of [...this.inits, ...this.ephemerals]) {
      if (run.isRunning || run.isBetweenRuns) run.stop(now, 0);
      run.step(now);
    }
    this.stopped = this.inits.every((run) => !run.isRunning) && this.ephemerals.every((run) => !run.isRunning);
  }

  private advanceInits(now: number): void {
    let passed = true;
    for (const run of this.inits) {
      if (passed && !this.isStopping) run.begin(now);
      run.step(now);
      if (run.plan.role === 'sidecar') passed &&= run.isRunning || this.isInitialized;
      else {
        if (run.isEnded && run.exited !== 0 && !this.isStopping) this.hasFailedInit = true;
        passed &&= run.exited === 0;
      }
    }
    if (passed) this.isInitialized = true;
  }

  /** The report to the API, as the whole content of the fields that nodes own. */
  status(now: number): PodStatus {
    const idleReason = this.plan.inits.length > 0 ? 'PodInitializing' : 'ContainerCreating';
    const { resizing } = this;
    const statuses = (runs: readonly ContainerRun[]) =>
      runs.map((run) => ({ ...run.status(now, idleReason), ...resizing.containerStatus(run.plan.name) }));
    const debugging = this.ephemerals.map((run) => run.status(now, idleReason));
    const { podIP } = this;
    const { hostIP } = this.dependencies;
    return describePod(this, this.conditions, now, {
      hostIP,
      hostIPs: [{ ip: hostIP }],
      podIP,
      podIPs: [{ ip: podIP }],
      startTime: this.startTime,
      initContainerStatuses: this.inits.length === 0 ? undefined : statuses(this.inits),
      containerStatuses: statuses(this.apps),
      ephemeralContainerStatuses: debugging.length === 0 ? undefined : debugging,
      resize: { conditions: this.isStopping ? [] : resizing.conditions, ...resizing.podStatus },
    });
  }
}

function least(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || (b !== undefined && b < a) ? b : a;
}
