import type { Timers } from '../../../base/machinery/timers.js';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { Probe } from '../../../objects/apis/core/v1/probe.types.js';
import type { EventType } from '../agent-events.js';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import { grpcCodes } from '../grpc/grpc-connection.js';
import { GrpcError } from '../grpc/grpc-error.js';
import type { RuntimeContainer } from '../pods/runtime-pod.js';
import { type CheckResult, checkGrpc, checkHttp, checkTcp, portOf } from './probe-action.js';
import type { ProbeCounts } from './probe-counts.js';
import { type ProbeKind, ProbeState } from './probe-state.js';

export interface ProberDependencies {
  readonly runtime: Pick<ContainerRuntime, 'exec'>;
  readonly timers: Timers;
  readonly random: () => number;
  /** Program name in the header `User-Agent`. */
  readonly userAgent: string;
  readonly counts: ProbeCounts;
  /** Aborted when the agent stops: no further check begins. */
  readonly signal: AbortSignal;
}

/** One run of a container that is probed. */
export interface ProbedRun {
  readonly run: RuntimeContainer;
  readonly container: Container;
  /** The address of the pod, looked up for each check. */
  readonly address: () => string;
  /** Grace period of the container in seconds; a liveness probe may have its own. */
  readonly event: (type: EventType, reason: string, message: string) => void;
  /** Called when a verdict has changed. */
  readonly changed: () => void;
  /** The state that was reported before the agent restarted. */
  readonly before: { readonly isStarted: boolean; readonly isReady: boolean } | undefined;
}

/** Checks one run until it is stopped, or the agent stops: first with its startup probe, then with the liveness and readiness probes. */
export class RunProbes {
  private readonly stopping = new AbortController();
  private readonly ended: AbortSignal;
  private readonly states = new Map<ProbeKind, ProbeState>();

  constructor(
    private readonly dependencies: ProberDependencies,
    private readonly probed: ProbedRun,
  ) {
    this.ended = AbortSignal.any([this.stopping.signal, dependencies.signal]);
    const { container, before } = probed;
    for (const [kind, probe] of probesOf(container)) {
      const state = new ProbeState(probe, ProbeState.initial(kind));
      if (kind === 'Startup' && before?.isStarted) state.verdict = 'success';
      if (kind === 'Readiness' && before?.isReady) state.verdict = 'success';
      this.states.set(kind, state);
    }
    for (const [kind, probe] of probesOf(container)) void this.follow(kind, probe);
  }

  get isStarted(): boolean {
    const state = this.states.get('Startup');
    return state === undefined || state.verdict === 'success';
  }

  get isReady(): boolean {
    const state = this.states.get('Readiness');
    return this.isStarted && (state === undefined || state.verdict === 'success');
  }

  get failed(): 'Liveness' | 'Startup' | undefined {
    if (this.states.get('Startup')?.verdict === 'failure') return 'Startup';
    return this.states.get('Liveness')?.verdict === 'failure' ? 'Liveness' : undefined;
  }

  /** Grace period of a container that a probe has given up, in seconds; undefined: that of the pod. */
  get graceSeconds(): number | undefined {
    const { livenessProbe, startupProbe } = this.probed.container;
    const probe = this.failed === 'Startup' ? startupProbe : livenessProbe;
    const seconds = probe?.terminationGracePeriodSeconds;
    return seconds === undefined || seconds === null ? undefined : Number(seconds);
  }

  stop(): void {
    this.stopping.abort();
  }

  private async follow(kind: ProbeKind, probe: Probe): Promise<void> {
    const { timers, random } = this.dependencies;
    const signal = this.ended;
    const { run, changed } = this.probed;
    const state = this.states.get(kind) as ProbeState;
    const periodMs = 1000 * Math.max(1, probe.periodSeconds ?? 10);
    const beginsAt = Math.floor(run.startedAt / 1e6) + 1000 * (probe.initialDelaySeconds ?? 0);
    // After a restart of the agent, the first checks of all containers are spread out.
    if (timers.now() - beginsAt > periodMs) await timers.wait(random() * periodMs, signal);
    else await timers.wait(Math.max(0, beginsAt - timers.now()), signal);
    while (!signal.aborted) {
      const isDue = kind === 'Startup' ? !this.isStarted : this.isStarted;
      if (isDue) {
        const result = await this.check(probe);
        if (signal.aborted) return;
        this.dependencies.counts.add(run, kind, result);
        this.report(kind, result);
        if (result.outcome !== 'unknown' && state.take(result.outcome)) changed();
        // The caller ends a run that a probe has given up; a startup probe that has passed is done.
        if (kind !== 'Readiness' && state.verdict === 'failure') return;
        if (kind === 'Startup' && state.verdict === 'success') return;
      }
      await timers.wait(isDue ? periodMs : Math.min(periodMs, 1000), signal);
    }
  }

  private report(kind: ProbeKind, { outcome, output, warning }: CheckResult): void {
    if (warning !== undefined) this.probed.event('Warning', 'ProbeWarning', `${kind} probe warning: ${cut(warning)}`);
    if (outcome === 'success') return;
    const text = cut(output);
    const verb = outcome === 'failure' ? 'failed' : 'errored and resulted in unknown state';
    this.probed.event('Warning', 'Unhealthy', `${kind} probe ${verb}: ${text}`);
  }

  private async check(probe: Probe): Promise<CheckResult> {
    const timeoutSeconds = Math.max(1, probe.timeoutSeconds ?? 1);
    try {
      return await this.act(probe, timeoutSeconds);
    } catch (error) {
      return { outcome: 'unknown', output: error instanceof Error ? error.message : String(error) };
    }
  }

  private async act({ exec, httpGet, tcpSocket, grpc }: Probe, timeoutSeconds: number): Promise<CheckResult> {
    const { run, container, address } = this.probed;
    const timeoutMs = timeoutSeconds * 1000;
    if (exec) return this.checkCommand(run.id, exec.command ?? [], timeoutSeconds);
    if (httpGet) {
      const port = portOf(httpGet.port, container);
      return checkHttp(httpGet, address(), port, this.dependencies.userAgent, timeoutMs);
    }
    if (tcpSocket) return checkTcp(tcpSocket.host || address(), portOf(tcpSocket.port, container), timeoutMs);
    if (grpc) return checkGrpc(grpc, address(), grpc.port, timeoutMs);
    throw new Error('the probe has no action');
  }

  /**
   * Nothing cancels the command, neither the end of the probes nor that of the agent, whose process waits for it: its own time limit
   * does. A call that is cancelled while the command starts makes containerd's helper of the pod wait for half a minute, in which it
   * starts and ends nothing.
   */
  private async checkCommand(id: string, command: readonly string[], timeoutSeconds: number): Promise<CheckResult> {
    try {
      const { exitCode, stdout, stderr } = await this.dependencies.runtime.exec(id, command, timeoutSeconds);
      const output = Buffer.concat([stdout, stderr]).subarray(0, 10_240).toString('utf8');
      return { outcome: exitCode === 0 ? 'success' : 'failure', output };
    } catch (error) {
      const isLate = error instanceof GrpcError && error.code === grpcCodes.deadlineExceeded;
      if (!isLate) throw error;
      const text = JSON.stringify(command.join(' '));
      return { outcome: 'failure', output: `command timed out: ${text} timed out after ${timeoutSeconds}s` };
    }
  }
}

function cut(text: string): string {
  return text.length > 1024 ? `${text.slice(0, 1024)}...` : text;
}

function probesOf({ startupProbe, livenessProbe, readinessProbe }: Container): [ProbeKind, Probe][] {
  const all: [ProbeKind, Probe | null | undefined][] = [
    ['Startup', startupProbe],
    ['Liveness', livenessProbe],
    ['Readiness', readinessProbe],
  ];
  return all.filter((each): each is [ProbeKind, Probe] => each[1] !== undefined && each[1] !== null);
}
