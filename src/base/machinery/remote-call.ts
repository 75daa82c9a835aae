import type { RequestContext } from './request-context.js';

/**
 * Calls a server outside, such as a webhook, on behalf of a request. Until the call has ended, the requests of others need
 * not wait for the seat of this request. Calls may overlap. Returns or throws what the call does.
 */
export async function remoteCall<T>(
  context: Pick<RequestContext, 'beginRemoteCall' | 'endRemoteCall'>,
  call: () => Promise<T>,
): Promise<T> {
  context.beginRemoteCall?.();
  try {
    return await call();
  } finally {
    context.endRemoteCall?.();
  }
}
