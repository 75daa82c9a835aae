import type { IncomingMessage } from 'node:http';
import { ServiceFault } from '../../base/outgoing/service-fault.js';
import type { APIServiceCondition } from '../../objects/apis/apiregistration/v1/api-service.types.js';
import { BackendFault } from './backend-fault.js';
import type { ExtensionBackend } from './extension-backend.js';
import type { RemoteApiService } from './known-api-service.js';

/** Whether a group version can be used, and why. */
export type Availability = Pick<APIServiceCondition, 'status' | 'reason' | 'message'>;

/** The user that sends this server's availability checks. */
export const aggregatorUser = Object.freeze({
  name: 'system:kube-aggregator',
  uid: '',
  groups: ['system:masters'],
  extra: {},
});

export const localAvailability: Availability = Object.freeze({
  status: 'True',
  reason: 'Local',
  message: 'Local APIServices are always available',
});

const passed: Availability = Object.freeze({ status: 'True', reason: 'Passed', message: 'all checks passed' });
const checkLimitMs = 5_000;
/** Larger than any list of resources. */
const mostDiscardedBytes = 1024 * 1024;

/**
 * Discards the body. Reading a short body keeps the connection open for the next request; the connection of a longer
 * one is closed.
 */
function leaveConnection(response: IncomingMessage): void {
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    if (bytes === 0) setTimeout(() => response.destroy(), checkLimitMs).unref();
    bytes += chunk.length;
    if (bytes > mostDiscardedBytes) response.destroy();
  });
}

/**
 * Finds the service of a group version and requests the resources of that version from it. Throws only when aborted.
 */
export async function checkAvailability(
  { group, version, remote }: RemoteApiService,
  backend: ExtensionBackend,
  signal: AbortSignal,
): Promise<Availability> {
  const path = `/apis/${group}/${version}`;
  const url = `https://${backend.host}${path}`;
  const failed = (text: string): Availability => ({
    status: 'False',
    reason: 'FailedDiscoveryCheck',
    message: `failing or missing response from ${url}: ${text}`,
  });
  const limit = AbortSignal.timeout(checkLimitMs);
  try {
    const answer = await backend.call({
      method: 'GET',
      path,
      headers: await backend.headersAs(aggregatorUser),
      signal: AbortSignal.any([signal, limit]),
      headLimitMs: checkLimitMs,
    });
    const { response } = answer;
    response.on('error', () => undefined);
    const code = response.statusCode ?? 0;
    leaveConnection(response);
    if (code >= 200 && code < 400) return passed;
    return failed(`bad status from ${url}: ${code}${await remedyFor(code, backend)}`);
  } catch (error) {
    signal.throwIfAborted();
    if (limit.aborted) return failed('context deadline exceeded');
    if (!(error instanceof BackendFault)) throw error;
    return error.cause instanceof ServiceFault ? unreachable(error.cause, remote) : failed(error.message);
  }
}

/** What helps when the extension server does not recognize this server, as a note for the message; else empty. */
async function remedyFor(code: number, backend: ExtensionBackend): Promise<string> {
  if ((code !== 401 && code !== 403) || (await backend.presentsCertificate())) return '';
  return ' (this server presents no certificate: --proxy-client-cert-file is not set)';
}

function unreachable(fault: ServiceFault, { namespace, service, port }: RemoteApiService['remote']): Availability {
  const place = `service/${service} in ${JSON.stringify(namespace)}`;
  const messages: Readonly<Record<ServiceFault['reason'], string>> = {
    ServiceNotFound: `${place} is not present`,
    ServicePortError: `${place} is not listening on port ${port}`,
    EndpointsNotFound: `cannot find endpointslices for ${place}`,
    MissingEndpoints: `endpointslices for ${place} have no addresses with port name ${JSON.stringify(fault.portName)}`,
    ServiceAccessError: `${place} cannot be checked due to: ${fault.message}`,
  };
  return { status: 'False', reason: fault.reason, message: messages[fault.reason] };
}
