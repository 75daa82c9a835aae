import { type ContainerStatus, containerStates } from './container-messages.js';

/** The exit code and the reason that containerd gives to a container that it could not start. */
const startError = { exitCode: 128, reason: 'StartError' } as const;

/** How its errors end when the caller was gone: the call is canceled, and a helper that it was just starting is killed. */
const canceled = /: context canceled(: unknown)?$|: failed to start shim: .*: signal: killed(: unknown)?$/;

/** Errors of the last steps, during which the process of the container may have run already. */
const mayHaveRun = /^failed to (start containerd task|update container) /;

/**
 * Whether a container has never run because its start was cut off: the agent or the runtime ended meanwhile. The runtime
 * has such a container as one that has ended, like one whose program is missing. False where the process may have run.
 */
export function wasStartCutOff(
  status: Pick<ContainerStatus, 'state' | 'exitCode' | 'reason' | 'startedAt' | 'message'>,
): boolean {
  const { state, exitCode, reason, startedAt, message } = status;
  if (state !== containerStates.exited || startedAt !== 0) return false;
  if (exitCode !== startError.exitCode || reason !== startError.reason) return false;
  return canceled.test(message) && !mayHaveRun.test(message);
}
