import type { Timers } from '../../../base/machinery/timers.js';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { LifecycleHandler } from '../../../objects/apis/core/v1/probe.types.js';
import type { EventType } from '../agent-events.js';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import { runtimeAnnotations } from '../cri/labels.js';
import type { RuntimeContainer } from '../pods/runtime-pod.js';
import { runHook } from './hooks.js';

export interface KillRequest {
  readonly run: RuntimeContainer;
  readonly message: string;
  readonly graceSeconds: number;
  readonly address: string;
  /** Shortens the hook and the grace period to this many seconds from now. */
  readonly hurry: AbortSignal;
  readonly event: (type: EventType, reason: string, message: string) => void;
}

/** The least time that a container has to end after its hook, in seconds. */
const leastGraceSeconds = 2;

/** Ends a run: first its preStop hook, then the stop signal, and a kill after the grace period. */
export async function killContainer(
  {
    runtime,
    timers,
    userAgent,
  }: { readonly runtime: ContainerRuntime; readonly timers: Timers; readonly userAgent: string },
  { run, message, graceSeconds, address, hurry, event }: KillRequest,
): Promise<void> {
  event('Normal', 'Killing', message);
  const hook = preStopOf(run);
  let left = graceSeconds;
  if (hook !== undefined && graceSeconds > 0) {
    const began = timers.elapsed();
    const limit = AbortSignal.any([AbortSignal.timeout(graceSeconds * 1000), hurry]);
    const container = { name: '', ports: portsOf(run) };
    try {
      await runHook(hook, { runtime, timers, containerId: run.id, container, address, userAgent, signal: limit });
    } catch (error) {
      if (!limit.aborted) event('Warning', 'FailedPreStopHook', `PreStopHook failed: ${(error as Error).message}`);
    }
    left = Math.floor(graceSeconds - (timers.elapsed() - began) / 1000);
    left = Math.max(left, leastGraceSeconds);
  }
  await runtime.stopContainer(run.id, left);
}

/** The hook is stored with the container, since the declaration of its pod may be gone. */
function preStopOf({ annotations }: RuntimeContainer): LifecycleHandler | undefined {
  return parsed<{ lifecycle?: { preStop?: LifecycleHandler } }>(annotations[runtimeAnnotations.preStopHandler])
    ?.lifecycle?.preStop;
}

function portsOf({ annotations }: RuntimeContainer): Container['ports'] {
  return parsed<Container['ports']>(annotations[runtimeAnnotations.ports]) ?? [];
}

function parsed<T>(text: string | undefined): T | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}
