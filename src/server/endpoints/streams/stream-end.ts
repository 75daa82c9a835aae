import { StatusError } from '../../../base/machinery/status-error.js';
import type { ResourceRequest } from '../resource-request.js';

/** How often open streams are checked, in milliseconds. */
const checkMs = 30_000;

/** Ends a stream for reasons other than its two sides. */
export interface StreamEnd {
  /** Aborted when the client has left, the server stops, or the stream must be ended. */
  readonly signal: AbortSignal;
  /** Why the server ends the stream; undefined if it does not. */
  readonly reason: () => string | undefined;
  /** Stops watching the stream; must be called when the stream is over. */
  readonly stop: () => void;
}

/**
 * Watches over one stream: ends it when its user has lost the right to it, when its object is gone, and when the server
 * stops. A failed check does not end the stream.
 *
 * @param name name of the object of the request; the name in the path may contain more
 * @param uid uid of that object
 * @param verb verb that the user needs in addition to that of the request
 */
export function watchOver(request: ResourceRequest, name: string, uid: string, verb?: string): StreamEnd {
  const { services, context, store, namespace } = request;
  const over = new AbortController();
  const { shutdown } = services.options;
  let reason: string | undefined;
  const end = (why: string | undefined) => {
    reason ??= why;
    over.abort();
  };
  const onShutdown = () => end('the server is shutting down');
  const onLeft = () => end(undefined);
  const isAllowed = async () => {
    const { admission } = services;
    if ((await admission?.isStillAllowed(context)) === false) return false;
    return verb === undefined || (await admission?.isStillAllowed(context, verb)) !== false;
  };
  const check = async () => {
    const isThere = await store.get(namespace, name, 0n).then(
      (found) => found.uid === uid,
      (error: unknown) => !(error instanceof StatusError && error.code === 404),
    );
    if (!isThere) end(`${request.resource.definition.singular} ${name} is gone`);
    else if (!(await isAllowed())) end('the right to this stream is gone');
  };
  const timer = setInterval(() => void check(), checkMs);
  shutdown.addEventListener('abort', onShutdown);
  context.signal.addEventListener('abort', onLeft);
  if (shutdown.aborted) onShutdown();
  if (context.signal.aborted) onLeft();
  return {
    signal: over.signal,
    reason: () => reason,
    stop: () => {
      clearInterval(timer);
      shutdown.removeEventListener('abort', onShutdown);
      context.signal.removeEventListener('abort', onLeft);
    },
  };
}
