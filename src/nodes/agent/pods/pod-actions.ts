import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { runtimeAnnotations } from '../cri/labels.js';
import { type DeclaredContainer, declaredContainers, isRestarted, restartsAll } from './pod-form.js';
import {
  hasExited,
  isCreated,
  isRunning,
  isUnknown,
  type RuntimeContainer,
  type RuntimePod,
  runsOf,
  runtimeAddressesOf,
  usableSandbox,
} from './runtime-pod.js';

/**
 * The verdicts of probes about a run: its liveness or startup probe has failed for good, or its startup probe has
 * passed.
 */
export interface RunHealth {
  readonly failed: 'Liveness' | 'Startup' | undefined;
  readonly isStarted: boolean;
}

export interface ActionInput {
  readonly pod: Pod;
  readonly runtime: RuntimePod;
  readonly healthOf: (run: RuntimeContainer) => RunHealth;
  /** The hash of a declaration; a run with another hash belongs to an older declaration. */
  readonly hashOf: (declared: DeclaredContainer) => string;
  /** How the run of a container gets the declared resources. */
  readonly resizeOf: (declared: DeclaredContainer) => 'none' | 'update' | 'restart';
}

/** A container that must end while the pod continues, with the message of its event. */
export interface ContainerKill {
  readonly run: RuntimeContainer;
  readonly declared: DeclaredContainer;
  readonly message: string;
}

/** A run that gets the resources of its declaration. */
export interface ContainerUpdate {
  readonly run: RuntimeContainer;
  readonly declared: DeclaredContainer;
}

/** A container that must be started; `before` is its last run. */
export interface ContainerStart {
  readonly declared: DeclaredContainer;
  readonly before: RuntimeContainer | undefined;
  /**
   * How often the container was restarted before the runtime forgot it; undefined: it never ran, or the runtime knows
   * the number.
   */
  readonly reportedRestarts?: number | undefined;
}

/** The actions that bring the runtime closer to the declaration of a pod. */
export interface PodActions {
  /** All containers must end: the sandbox is unusable, or the pod is over. */
  readonly killAll: boolean;
  /** A sandbox must be made before any container starts. */
  readonly newSandbox: boolean;
  readonly kills: readonly ContainerKill[];
  readonly starts: readonly ContainerStart[];
  /** Runs that get other resources without a restart. */
  readonly updates: readonly ContainerUpdate[];
  /** Runs to remove, in this order, so that the whole pod restarts in its sandbox. No other action is taken then. */
  readonly resets: readonly RuntimeContainer[];
  /** Whether all init containers have completed, as far as the runtime knows. */
  readonly isInitialized: boolean;
}

/** Whether there is nothing to do. */
export function isIdle({ killAll, newSandbox, kills, starts, updates, resets }: PodActions): boolean {
  return !killAll && !newSandbox && [kills, starts, updates, resets].every(({ length }) => length === 0);
}

const nothing = { kills: [], starts: [], updates: [], resets: [] } as const;

/** Compares the declaration of a pod that should run with the state of the runtime. A pure function. */
export function podActions(input: ActionInput): PodActions {
  const { pod, runtime } = input;
  const all = declaredContainers(pod);
  const sandbox = usableSandbox(runtime);
  const hasAddress = pod.spec.hostNetwork === true || runtimeAddressesOf(sandbox).length > 0;
  if (sandbox === undefined || !hasAddress) return withoutSandbox(input, all);
  const inSandbox: RuntimePod = {
    ...runtime,
    containers: runtime.containers.filter(({ sandboxId }) => sandboxId === sandbox.id),
  };
  const resets = resetsOf(all, runtime);
  if (resets.length > 0) return { killAll: false, newSandbox: false, ...nothing, resets, isInitialized: false };
  const plan = new Plan(input, inSandbox);
  const apps = all.filter(({ role }) => role === 'app');
  const wasInitialized = apps.some(({ container }) => runsOf(inSandbox, container.name).length > 0);
  const inits = plan.addInits(all, wasInitialized);
  if (inits === 'failed') return { killAll: true, newSandbox: false, ...nothing, isInitialized: false };
  const isInitialized = wasInitialized || inits === 'done';
  let live = 0;
  if (isInitialized) for (const declared of apps) live += plan.addApp(declared) ? 1 : 0;
  else live = 1;
  if (live === 0) return { killAll: true, newSandbox: false, ...nothing, isInitialized };
  for (const declared of all) if (declared.role === 'ephemeral') plan.addEphemeral(declared);
  for (const declared of all) plan.killEarlier(declared);
  const { kills, starts, updates } = plan;
  return { killAll: false, newSandbox: false, kills, starts, updates, resets: [], isInitialized };
}

/** A pod whose sandbox is missing or has ended starts from the beginning, unless its restart policy forbids that. */
function withoutSandbox({ pod, runtime }: ActionInput, all: readonly DeclaredContainer[]): PodActions {
  const isFirst = runtime.sandboxes.length === 0 && runtime.containers.length === 0;
  const killAll = runtime.sandboxes.length > 0;
  const runnable = all.filter((declared) => {
    if (declared.role !== 'app') return false;
    const [last] = runsOf(runtime, declared.container.name);
    return last === undefined || !hasExited(last) ? true : isRestarted(pod, declared, last.exitCode);
  });
  const mayRun = isFirst || pod.spec.restartPolicy !== 'Never' || !runtime.containers.some(hasExited);
  if (runnable.length === 0 || !mayRun) return { killAll: true, newSandbox: false, ...nothing, isInitialized: false };
  const [first] = all;
  const starts = (first?.role === 'init' || first?.role === 'sidecar' ? [first] : runnable).map((declared) => ({
    declared,
    before: runsOf(runtime, declared.container.name)[0],
  }));
  return { killAll, newSandbox: true, ...nothing, starts, isInitialized: first?.role === 'app' };
}

/**
 * All runs of a pod that restarts as a whole because of how one of its containers ended. Runs that caused it are
 * removed last.
 */
function resetsOf(all: readonly DeclaredContainer[], runtime: RuntimePod): RuntimeContainer[] {
  const isSource = (declared: DeclaredContainer) => {
    const [last] = runsOf(runtime, declared.container.name);
    return last !== undefined && hasExited(last) && restartsAll(declared, last.exitCode);
  };
  const concerned = all.filter(({ role }) => role !== 'ephemeral');
  const sources = new Set(concerned.filter(isSource));
  if (sources.size === 0) return [];
  const isApp = ({ role }: DeclaredContainer) => role === 'app';
  const ordered = [...concerned.filter(isApp), ...concerned.filter((each) => !isApp(each))];
  const inOrder = [...ordered.filter((each) => !sources.has(each)), ...ordered.filter((each) => sources.has(each))];
  return inOrder.flatMap(({ container }) => [...runsOf(runtime, container.name)]);
}

/** Collects the actions for the containers of a sandbox. */
class Plan {
  readonly kills: ContainerKill[] = [];
  readonly starts: ContainerStart[] = [];
  readonly updates: ContainerUpdate[] = [];

  constructor(
    private readonly input: ActionInput,
    private readonly runtime: RuntimePod,
  ) {}

  /** Goes through the init containers in order, up to the first one that must complete before the next may start. */
  addInits(all: readonly DeclaredContainer[], wasInitialized: boolean): 'done' | 'waiting' | 'failed' {
    for (const declared of all) {
      if (declared.role !== 'init' && declared.role !== 'sidecar') break;
      const [run] = runsOf(this.runtime, declared.container.name);
      if (declared.role === 'sidecar') {
        const isUp = this.addSidecar(declared, run);
        if (!isUp && !wasInitialized) return 'waiting';
      } else if (!wasInitialized) {
        const outcome = this.addInit(declared, run);
        if (outcome !== 'done') return outcome;
      }
    }
    return 'done';
  }

  private addSidecar(declared: DeclaredContainer, run: RuntimeContainer | undefined): boolean {
    if (run === undefined || !isRunning(run)) {
      this.start(declared);
      return false;
    }
    if (this.killIfNeeded(declared, run)) return false;
    return this.input.healthOf(run).isStarted;
  }

  private addInit(declared: DeclaredContainer, run: RuntimeContainer | undefined): 'done' | 'waiting' | 'failed' {
    if (run !== undefined && isRunning(run)) {
      if (this.input.resizeOf(declared) === 'update') this.updates.push({ run, declared });
      return 'waiting';
    }
    if (run !== undefined && hasExited(run)) {
      if (run.exitCode === 0) return 'done';
      if (!isRestarted(this.input.pod, declared, run.exitCode)) return 'failed';
    }
    this.start(declared);
    return 'waiting';
  }

  /** Returns whether the container runs or will run. */
  addApp(declared: DeclaredContainer): boolean {
    const [run] = runsOf(this.runtime, declared.container.name);
    if (run !== undefined && isRunning(run)) {
      this.killIfNeeded(declared, run);
      return true;
    }
    if (run !== undefined && hasExited(run) && !isRestarted(this.input.pod, declared, run.exitCode)) return false;
    this.start(declared);
    return true;
  }

  /** An ephemeral container runs once. One that was created and never started has not run yet. */
  addEphemeral(declared: DeclaredContainer): void {
    const [run] = runsOf(this.runtime, declared.container.name);
    if (run === undefined || isCreated(run)) this.start(declared);
  }

  /** A runtime that was wrong about a container for a while may run it twice. The newest run counts. */
  killEarlier(declared: DeclaredContainer): void {
    const { name } = declared.container;
    for (const run of runsOf(this.input.runtime, name).slice(1)) {
      if (isRunning(run)) this.kills.push({ run, declared, message: `Container ${name} runs twice` });
    }
  }

  private start(declared: DeclaredContainer): void {
    // Restarts are counted across sandboxes.
    const [before] = runsOf(this.input.runtime, declared.container.name);
    if (before !== undefined && isUnknown(before)) {
      const message = 'Container is in unknown state, try killing it before restart';
      this.kills.push({ run: before, declared, message });
    }
    this.starts.push({ declared, before });
  }

  /**
   * Ends a run that probes have given up, or whose declaration needs a new run. After a failed probe, the restart
   * policy decides about the next start; in the other case the container starts again.
   */
  private killIfNeeded(declared: DeclaredContainer, run: RuntimeContainer): boolean {
    const { name } = declared.container;
    const { failed } = this.input.healthOf(run);
    const hash = run.annotations[runtimeAnnotations.hash];
    const resize = this.input.resizeOf(declared);
    let message: string;
    if (hash !== undefined && hash !== this.input.hashOf(declared)) {
      message = `Container ${name} definition changed, will be restarted`;
    } else if (failed !== undefined) {
      message = `Container ${name} failed ${failed.toLowerCase()} probe, will be restarted`;
    } else if (resize === 'restart') {
      message = `Container ${name} resize requires restart`;
    } else {
      if (resize === 'update') this.updates.push({ run, declared });
      return false;
    }
    this.kills.push({ run, declared, message });
    if (failed === undefined) this.starts.push({ declared, before: run });
    return true;
  }
}
