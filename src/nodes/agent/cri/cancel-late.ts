import { type CallbackTimers, systemTimers } from '../../../base/machinery/timers.js';
import { grpcCodes } from '../grpc/grpc-connection.js';
import { GrpcError } from '../grpc/grpc-error.js';

/** How long a command may take to start, in milliseconds. */
const startMs = 30_000;

/**
 * Makes a call that starts a command in a container. Whoever aborts the signal has an answer at once, but the call is cancelled only
 * when the command has certainly started. If a call is cancelled earlier, containerd's helper of the pod waits for half a minute, in
 * which it starts and ends nothing.
 *
 * @throws GrpcError of the call, or `canceled` after the abort
 */
export function cancelLate<T>(
  call: (cancelled: AbortSignal) => Promise<T>,
  signal: AbortSignal,
  timers: Pick<CallbackTimers, 'elapsed' | 'after'> = systemTimers,
): Promise<T> {
  const cancel = new AbortController();
  const began = timers.elapsed();
  return new Promise((resolve, reject) => {
    let forget: () => void = () => undefined;
    const giveUp = () => {
      forget = timers.after(Math.max(0, began + startMs - timers.elapsed()), () => cancel.abort());
      reject(new GrpcError(grpcCodes.canceled, 'the command was given up'));
    };
    if (signal.aborted) {
      reject(new GrpcError(grpcCodes.canceled, 'the command was given up'));
      return;
    }
    signal.addEventListener('abort', giveUp, { once: true });
    const done = () => {
      signal.removeEventListener('abort', giveUp);
      forget();
    };
    call(cancel.signal).finally(done).then(resolve, reject);
  });
}
