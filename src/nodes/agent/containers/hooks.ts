import type { Timers } from '../../../base/machinery/timers.js';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { HTTPGetAction, LifecycleHandler } from '../../../objects/apis/core/v1/probe.types.js';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import { askContainer, type ContainerRequest } from '../probes/http-request.js';
import { portOf } from '../probes/probe-action.js';

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

/** A server must answer a hook within this time. */
const longestHttpMs = 600_000;

/** Runs the postStart or preStop hook of a container. @throws Error when the hook fails */
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
    const request = { address, port, userAgent: input.userAgent, timeoutMs: longestHttpMs };
    await Promise.race([callHook(httpGet, request), aborted(signal)]);
    return;
  }
  if (sleep) {
    await timers.wait(Number(sleep.seconds) * 1000, signal);
    return;
  }
  throw new Error('the hook has no action that this node knows');
}

/**
 * Any response counts as success: hooks request an action and expect no answer. A server that does not speak the TLS
 * that the hook asks for gets the request over plain HTTP, without credentials.
 */
async function callHook(action: HTTPGetAction, request: Omit<ContainerRequest, 'action'>): Promise<void> {
  try {
    await askContainer({ ...request, action });
  } catch (error) {
    const { code = '' } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
    if (action.scheme !== 'HTTPS' || !notTls.includes(code)) throw error;
    const httpHeaders = (action.httpHeaders ?? []).filter(({ name }) => name.toLowerCase() !== 'authorization');
    await askContainer({ ...request, action: { ...action, scheme: 'HTTP', httpHeaders } });
  }
}

/** The error of a TLS connection whose server answers in plain HTTP. */
const notTls = ['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'];

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(new Error('it took too long'));
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}
