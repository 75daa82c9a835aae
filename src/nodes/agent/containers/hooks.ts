import type { Timers } from '../../../base/machinery/timers.js';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { LifecycleHandler } from '../../../objects/apis/core/v1/probe.types.js';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import { checkHttp, portOf } from '../probes/probe-action.js';

export interface HookInput {
  readonly runtime: Pick<ContainerRuntime, 'exec'>;
  readonly timers: Timers;
  readonly containerId: string;
  readonly container: Pick<Container, 'name' | 'ports'>;
  readonly address: string;
  readonly userAgent: string;
  /** Ends the hook early. */
  readonly signal: AbortSignal;
}

/** Answers of servers to hooks must come within this. */
const longestHttpMs = 600_000;

/** Runs what a container wants to be done after its start or before its end. @throws Error when that fails */
export async function runHook({ exec, httpGet, sleep }: LifecycleHandler, input: HookInput): Promise<void> {
  const { runtime, timers, containerId, container, address, signal } = input;
  if (exec) {
    const command = exec.command ?? [];
    const { exitCode, stdout, stderr } = await runtime.exec(containerId, command, 0, signal);
    if (exitCode === 0) return;
    const text = Buffer.concat([stdout, stderr]).subarray(0, 1024).toString('utf8');
    throw new Error(`command '${command.join(' ')}' exited with ${exitCode}: ${text}`);
  }
  if (httpGet) {
    const port = portOf(httpGet.port, container);
    const { outcome, output } = await Promise.race([
      checkHttp(httpGet, address, port, input.userAgent, longestHttpMs),
      aborted(signal),
    ]);
    if (outcome !== 'success') throw new Error(output);
    return;
  }
  if (sleep) {
    await timers.wait(Number(sleep.seconds) * 1000, signal);
    return;
  }
  throw new Error('the hook has no action that this node knows');
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(new Error('it took too long'));
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}
