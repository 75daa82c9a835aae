import { createHash } from 'node:crypto';
import { formatFlagDuration } from '../../base/config/flag-duration.js';
import { formatTime } from '../../base/machinery/clock.js';
import type { ContainerState, ContainerStatus } from '../../objects/apis/core/v1/container-status.types.js';
import type { Behaviour, SimulatedRole } from './behaviour.js';

/** The parts of a container that the simulation needs. */
export interface ContainerPlan {
  readonly name: string;
  readonly image: string;
  readonly role: SimulatedRole;
  /** When the container is started again after a run: always, after failures, or never. */
  readonly restarts: 'Always' | 'OnFailure' | 'Never';
  readonly behaviour: Behaviour;
}

/** The pauses before a container is started again, or its image is fetched again. */
export interface SimulatedBackOff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** Something that happened to a container: the content of an event about its pod. */
export interface ContainerEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** After a run of at least this length, in milliseconds, the back-off starts again. */
const steadyMs = 600_000;
/** A failed attempt to fetch an image is shown for this long before the pause. */
const pullFailedMs = 1000;

/** The least time that a container has to end after its hook. */
const leastGraceMs = 2000;

type State =
  /** The container's turn has not come yet. */
  | { readonly kind: 'idle' }
  | { readonly kind: 'creating'; readonly until: number }
  | { readonly kind: 'pull-failed'; readonly until: number }
  | { readonly kind: 'pull-back-off'; readonly until: number }
  | { readonly kind: 'running'; readonly since: number; readonly stopAt?: number; readonly killed?: boolean }
  | { readonly kind: 'crash-back-off'; readonly until: number; readonly pauseMs: number }
  | { readonly kind: 'ended'; readonly ended: Ended };

interface Ended {
  readonly exitCode: number;
  readonly since: number | undefined;
  readonly at: number;
  readonly reason: string;
  readonly message?: string;
  readonly containerID?: string;
}

/** The owner of the container, for its identity and for messages. */
export interface RunOwner {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/**
 * The life of one container as a function of time. Times are milliseconds since the epoch. States: `idle` until `begin`,
 * then `creating`; from there `running`, or `pull-failed` and `pull-back-off` in turn. A run ends by itself or because of
 * `stop`; then the container is `ended`, or runs again, after the first time with a pause in `crash-back-off`.
 */
export class ContainerRun {
  private state: State = { kind: 'idle' };
  private last: Ended | undefined;
  private pauseMs = 0;
  private pullPauseMs = 0;
  private stopping = false;
  /** Time of the last step: everything due by then is done. */
  private seen = 0;
  restartCount = 0;

  constructor(
    public plan: ContainerPlan,
    private readonly owner: RunOwner,
    private readonly backOff: SimulatedBackOff,
    private readonly recordEvent: (happening: ContainerEvent) => void,
  ) {}

  /** Adopts the state that another process reported. */
  adopt(status: ContainerStatus): void {
    this.restartCount = status.restartCount;
    const { running, terminated, waiting } = status.state;
    const before = status.lastState?.terminated;
    if (before) this.last = readEnded(before);
    if (running?.startedAt) this.state = { kind: 'running', since: Date.parse(running.startedAt) };
    else if (terminated) this.state = { kind: 'ended', ended: readEnded(terminated) };
    else if (waiting?.reason === 'CrashLoopBackOff' && this.last !== undefined) {
      this.pauseMs = this.backOff.firstMs;
      this.state = { kind: 'crash-back-off', until: this.last.at + this.pauseMs, pauseMs: this.pauseMs };
    }
  }

  /** Called when it is the container's turn to begin. */
  begin(now: number): void {
    if (this.state.kind === 'idle') this.state = { kind: 'creating', until: now + this.plan.behaviour.startMs };
  }

  /** Ends the container, which has `graceMs` to end by itself; it is not started again. */
  stop(now: number, graceMs: number): void {
    this.stopping = true;
    switch (this.state.kind) {
      case 'running': {
        const { preStopMs, stopMs } = this.plan.behaviour;
        const hookMs = Math.min(preStopMs, graceMs);
        // The rest of the grace period after the hook, but never nothing: the container may still end by itself.
        const leftMs = hookMs === 0 ? graceMs : Math.max(graceMs - hookMs, leastGraceMs);
        this.state = { ...this.state, stopAt: now + hookMs + Math.min(stopMs, leftMs), killed: stopMs > leftMs };
        this.recordEvent({ type: 'Normal', reason: 'Killing', message: `Stopping container ${this.plan.name}` });
        break;
      }
      case 'crash-back-off':
        this.state = { kind: 'ended', ended: this.last as Ended };
        break;
      case 'ended':
        break;
      default:
        this.state = { kind: 'ended', ended: neverRan(now) };
    }
  }

  /** Ends the present run and begins the next one at once, to get other resources. */
  restart(now: number): void {
    if (this.state.kind !== 'running' || this.stopping) return;
    const { name } = this.plan;
    const message = `Container ${name} resize requires restart`;
    this.recordEvent({ type: 'Normal', reason: 'Killing', message });
    const exitCode = this.stopCode(false);
    const reason = exitCode === 0 ? 'Completed' : 'Error';
    this.last = { exitCode, since: this.state.since, at: now, reason, containerID: this.containerID };
    this.restartCount += 1;
    this.run(now);
  }

  /** When the state changes next by itself; undefined: it does not. */
  get nextAt(): number | undefined {
    switch (this.state.kind) {
      case 'idle':
      case 'ended':
        return undefined;
      case 'running': {
        const readyAt = this.readyAt(this.state);
        return least([this.endAt(this.state), readyAt !== undefined && readyAt > this.seen ? readyAt : undefined]);
      }
      default:
        return this.state.until;
    }
  }

  /** Does everything that is due. Returns whether anything changed. */
  step(now: number): boolean {
    let changed = false;
    for (let at = this.nextAt; at !== undefined && at <= now; at = this.nextAt) {
      changed = true;
      this.seen = at;
      this.turn(at);
    }
    return changed;
  }

  private turn(at: number): void {
    const { name, image, behaviour } = this.plan;
    switch (this.state.kind) {
      case 'creating':
      case 'pull-back-off':
        if (behaviour.failsImage) {
          this.state = { kind: 'pull-failed', until: at + pullFailedMs };
          this.recordEvent({
            type: 'Warning',
            reason: 'Failed',
            message: `Failed to pull image "${image}": not found`,
          });
          this.recordEvent({ type: 'Warning', reason: 'Failed', message: 'Error: ErrImagePull' });
          return;
        }
        this.recordEvent({
          type: 'Normal',
          reason: 'Pulled',
          message: `Container image "${image}" already present on machine`,
        });
        this.run(at);
        return;
      case 'pull-failed':
        this.pullPauseMs = this.longer(this.pullPauseMs);
        this.state = { kind: 'pull-back-off', until: at + this.pullPauseMs };
        this.recordEvent({ type: 'Normal', reason: 'BackOff', message: `Back-off pulling image "${image}"` });
        this.recordEvent({ type: 'Warning', reason: 'Failed', message: 'Error: ImagePullBackOff' });
        return;
      case 'crash-back-off':
        this.restartCount += 1;
        this.run(at);
        return;
      case 'running': {
        const endAt = this.endAt(this.state);
        if (endAt !== undefined && endAt <= at) this.end(at, this.state);
        return;
      }
      case 'idle':
      case 'ended':
        return;
      default:
        throw new Error(`unknown state of container ${name}`);
    }
  }

  private run(at: number): void {
    this.state = { kind: 'running', since: at };
    this.recordEvent({ type: 'Normal', reason: 'Created', message: `Container created: ${this.plan.name}` });
    this.recordEvent({ type: 'Normal', reason: 'Started', message: `Container started: ${this.plan.name}` });
  }

  private end(at: number, state: State & { kind: 'running' }): void {
    const { restarts } = this.plan;
    const exitCode = this.stopping ? this.stopCode(state.killed === true) : this.exitCode();
    const reason = exitCode === 0 ? 'Completed' : 'Error';
    const ended: Ended = { exitCode, since: state.since, at, reason, containerID: this.containerID };
    if (this.stopping || restarts === 'Never' || (restarts === 'OnFailure' && exitCode === 0)) {
      this.state = { kind: 'ended', ended };
      return;
    }
    this.last = ended;
    if (at - state.since >= steadyMs) this.pauseMs = 0;
    // The first restart is immediate.
    const pauseMs = this.pauseMs;
    this.pauseMs = this.longer(pauseMs);
    if (pauseMs === 0) {
      this.restartCount += 1;
      this.run(at);
      return;
    }
    this.state = { kind: 'crash-back-off', until: at + pauseMs, pauseMs };
    const { namespace, name, uid } = this.owner;
    this.recordEvent({
      type: 'Warning',
      reason: 'BackOff',
      message: `Back-off restarting failed container ${this.plan.name} in pod ${name}_${namespace}(${uid})`,
    });
  }

  private exitCode(): number {
    const { exitCode, failTimes } = this.plan.behaviour;
    if (failTimes === undefined) return exitCode;
    return this.restartCount < failTimes ? exitCode || 1 : 0;
  }

  /** The exit code after a stop: servers exit with 0 when they are asked to stop; tasks are interrupted. */
  private stopCode(killed: boolean): number {
    if (killed) return 137;
    return this.plan.restarts === 'Always' ? 0 : 143;
  }

  private longer(pauseMs: number): number {
    const { firstMs, longestMs } = this.backOff;
    return pauseMs === 0 ? firstMs : Math.min(2 * pauseMs, longestMs);
  }

  private endAt(state: State & { kind: 'running' }): number | undefined {
    const { runMs } = this.plan.behaviour;
    const ends = runMs === undefined ? undefined : state.since + runMs;
    return least([ends, state.stopAt]);
  }

  private readyAt(state: State & { kind: 'running' }): number | undefined {
    const { readyMs } = this.plan.behaviour;
    return readyMs === undefined ? undefined : state.since + readyMs;
  }

  get isRunning(): boolean {
    return this.state.kind === 'running';
  }

  /** Whether the container ran to its end and is not started again. */
  get isEnded(): boolean {
    return this.state.kind === 'ended';
  }

  /** Whether the container waits for its next run after at least one run. */
  get isBetweenRuns(): boolean {
    return this.state.kind === 'crash-back-off';
  }

  get exited(): number | undefined {
    return this.state.kind === 'ended' ? this.state.ended.exitCode : undefined;
  }

  isReady(now: number): boolean {
    if (this.plan.role === 'init') return this.exited === 0;
    // A container that is being stopped keeps serving until it ends.
    if (this.state.kind !== 'running') return false;
    const at = this.readyAt(this.state);
    return at !== undefined && at <= now && this.plan.role !== 'ephemeral';
  }

  /** Start of the present run. */
  get runningSince(): number | undefined {
    return this.state.kind === 'running' ? this.state.since : undefined;
  }

  /** Start and end of the run before the present one. */
  get lastRan(): { readonly since: number; readonly at: number } | undefined {
    const { last } = this;
    return last?.since === undefined ? undefined : { since: last.since, at: last.at };
  }

  /** Start and end of the last run of an ended container. */
  get endedRun(): { readonly since: number; readonly at: number } | undefined {
    if (this.state.kind !== 'ended') return undefined;
    const { since, at } = this.state.ended;
    return since === undefined ? undefined : { since, at };
  }

  private get containerID(): string {
    return `sim://${hash(`${this.owner.uid}/${this.plan.name}/${this.restartCount}`)}`;
  }

  /** @param idleReason the reason of waiting before its turn */
  status(now: number, idleReason: string): ContainerStatus {
    const { name, image } = this.plan;
    const ran = this.state.kind === 'running' || this.state.kind === 'ended' || this.last !== undefined;
    const isStarted = this.state.kind === 'running';
    const containerID = this.state.kind === 'running' ? this.containerID : this.endedState?.containerID;
    return {
      name,
      state: this.presentState(idleReason),
      lastState: this.last === undefined ? {} : { terminated: writeEnded(this.last) },
      ready: this.isReady(now),
      restartCount: this.restartCount,
      image,
      imageID: ran ? imageIdOf(image) : '',
      ...(containerID === undefined ? {} : { containerID }),
      started: this.plan.role === 'init' ? false : isStarted,
    };
  }

  private get endedState(): Ended | undefined {
    return this.state.kind === 'ended' ? this.state.ended : this.last;
  }

  private presentState(idleReason: string): ContainerState {
    const { name, image } = this.plan;
    const waiting = (reason: string, message?: string) => ({
      waiting: { reason, ...(message === undefined ? {} : { message }) },
    });
    switch (this.state.kind) {
      case 'idle':
      case 'creating':
        return waiting(idleReason);
      case 'pull-failed':
        return waiting('ErrImagePull', `failed to pull image "${image}": not found`);
      case 'pull-back-off':
        return waiting(
          'ImagePullBackOff',
          `Back-off pulling image "${image}": ErrImagePull: failed to pull image "${image}": not found`,
        );
      case 'crash-back-off': {
        const { namespace, name: pod, uid } = this.owner;
        const pause = formatFlagDuration(this.state.pauseMs);
        const message = `back-off ${pause} restarting failed container=${name} pod=${pod}_${namespace}(${uid})`;
        return waiting('CrashLoopBackOff', message);
      }
      case 'running':
        return { running: { startedAt: formatTime(this.state.since) } };
      case 'ended':
        return { terminated: writeEnded(this.state.ended) };
    }
  }
}

function neverRan(at: number): Ended {
  const message = 'The container could not be located when the pod was terminated';
  return { exitCode: 137, since: undefined, at, reason: 'ContainerStatusUnknown', message };
}

function writeEnded({ exitCode, since, at, reason, message, containerID }: Ended) {
  return {
    exitCode,
    reason,
    ...(message === undefined ? {} : { message }),
    startedAt: since === undefined ? null : formatTime(since),
    finishedAt: since === undefined ? null : formatTime(at),
    ...(containerID === undefined ? {} : { containerID }),
  };
}

function readEnded(state: NonNullable<ContainerState['terminated']>): Ended {
  const { exitCode, reason = '', message, startedAt, finishedAt, containerID } = state;
  return {
    exitCode,
    reason,
    since: startedAt ? Date.parse(startedAt) : undefined,
    at: finishedAt ? Date.parse(finishedAt) : 0,
    ...(message === undefined ? {} : { message }),
    ...(containerID === undefined ? {} : { containerID }),
  };
}

function least(times: readonly (number | undefined)[]): number | undefined {
  let found: number | undefined;
  for (const at of times) if (at !== undefined && (found === undefined || at < found)) found = at;
  return found;
}

const imageIds = new Map<string, string>();
const mostImages = 10_000;

/** The ID of an image: the same for the same image name. */
export function imageIdOf(image: string): string {
  let id = imageIds.get(image);
  if (id === undefined) {
    if (imageIds.size >= mostImages) imageIds.clear();
    id = `${image.replace(/@.*$/, '').replace(/:[^/:]*$/, '')}@sha256:${hash(image)}`;
    imageIds.set(image, id);
  }
  return id;
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
