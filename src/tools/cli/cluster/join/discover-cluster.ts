import { clusterInfoKubeconfigKey, clusterInfoSignaturePrefix } from '../../../../base/machinery/cluster-info-names.js';
import { errorText, StartupError } from '../../../../base/machinery/startup-error.js';
import type { Timers } from '../../../../base/machinery/timers.js';
import type { Endpoint } from '../https-get.js';
import { publicKeyPin } from '../public-key-pin.js';
import { type PublishedCluster, readPublishedCluster } from '../published-cluster.js';
import type { TokenText } from '../token/token-text.js';
import { type ClusterInfoMap, readClusterInfo } from './read-cluster-info.js';
import { verifySignature } from './verify-signature.js';

export interface Discovery {
  readonly endpoint: Endpoint;
  readonly token: TokenText;
  /** Pins of authorities, one of which the cluster must have; none: any authority that somebody with the token signs. */
  readonly pins: readonly string[];
  readonly timeoutMs: number;
  readonly timers: Timers;
  /** Gets the reason while the cluster is not there yet. */
  readonly onWait: (reason: string) => void;
}

/** A cluster that can be trusted. */
export interface DiscoveredCluster extends PublishedCluster {
  /** The namespace of public objects, whose name shows the spelling that the cluster uses. */
  readonly publicNamespace: string;
}

const retryMs = 1000;

/**
 * Finds a cluster by an address and a token (specification 5.8). The server is not trusted until its information is signed with
 * the token, its authority has one of the pins, and its certificate is of that authority.
 *
 * @throws StartupError for a forgery at once; and when the information does not come in time
 */
export async function discoverCluster(discovery: Discovery, signal: AbortSignal): Promise<DiscoveredCluster> {
  const { endpoint, token, pins, timers } = discovery;
  const deadline = timers.elapsed() + discovery.timeoutMs;
  for (let before = ''; ; ) {
    const found = await readSigned(endpoint, token, signal);
    if (typeof found !== 'string') return trusted(discovery, verified(found, token, pins), signal);
    if (signal.aborted) throw new StartupError('stopped');
    const reason = `${endpoint.host}:${endpoint.port}: ${found}`;
    if (timers.elapsed() > deadline) throw new StartupError(reason);
    if (reason !== before) discovery.onWait(reason);
    before = reason;
    await timers.wait(retryMs, signal);
  }
}

/** The map with a signature for the token, or why it is not there yet. */
async function readSigned(endpoint: Endpoint, token: TokenText, signal: AbortSignal): Promise<ClusterInfoMap | string> {
  try {
    const map = await readClusterInfo(endpoint, undefined, signal);
    if (map.data[`${clusterInfoSignaturePrefix}${token.id}`] !== undefined) return map;
    return `the token ${token.id} has no signature in ${map.namespace}: it is unknown, has expired, or may not sign`;
  } catch (error) {
    return `the information of the cluster can't be read: ${errorText(error)}`;
  }
}

function verified(map: ClusterInfoMap, token: TokenText, pins: readonly string[]): Verified {
  const document = map.data[clusterInfoKubeconfigKey];
  const signature = map.data[`${clusterInfoSignaturePrefix}${token.id}`];
  if (typeof document !== 'string' || typeof signature !== 'string') {
    throw new StartupError('the published information of the cluster has another form');
  }
  verifySignature(signature, document, token);
  const cluster = readPublishedCluster(document);
  const own = cluster.authorities.map(publicKeyPin);
  if (pins.length > 0 && !own.some((pin) => pins.includes(pin))) {
    throw new StartupError(`the authority of the cluster has none of the pins: it is ${own.join(', ')}`);
  }
  return { document, namespace: map.namespace, cluster };
}

interface Verified {
  readonly document: string;
  readonly namespace: string;
  readonly cluster: PublishedCluster;
}

/**
 * Sends the request again, now with the server's authority: somebody who replays old information has no key for a
 * certificate of that authority.
 */
async function trusted(
  { endpoint }: Discovery,
  { document, namespace, cluster }: Verified,
  signal: AbortSignal,
): Promise<DiscoveredCluster> {
  let again: ClusterInfoMap;
  try {
    again = await readClusterInfo(endpoint, cluster.authority, signal);
  } catch (error) {
    throw new StartupError(
      `${endpoint.host}:${endpoint.port} can't show a certificate of the cluster's authority: ${errorText(error)}`,
    );
  }
  if (again.namespace !== namespace || again.data[clusterInfoKubeconfigKey] !== document) {
    throw new StartupError('the information of the cluster is another one over the verified connection');
  }
  return { ...cluster, publicNamespace: namespace };
}
