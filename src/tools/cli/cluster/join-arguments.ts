import { clusterInfoKubeconfigKey, clusterInfoName } from '../../../base/machinery/cluster-info-names.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { ApiError } from '../../../nodes/connection/api-error.js';
import type { AdminApi } from './admin-api.js';
import { publicKeyPin } from './public-key-pin.js';
import { type PublishedCluster, readPublishedCluster } from './published-cluster.js';

/**
 * The arguments with which a node joins by a token, for `plinth join` and `kubeadm join` alike: what the cluster has
 * published is what a node will find.
 *
 * @throws StartupError when nothing is published
 */
export async function joinArguments({ api, names, signal }: AdminApi, token: string): Promise<string> {
  const path = `/api/v1/namespaces/${names.publicNamespace}/configmaps/${clusterInfoName}`;
  let map: { readonly data?: Readonly<Record<string, string>> };
  try {
    map = await api.send('GET', path, { signal });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
    map = {};
  }
  const document = map.data?.[clusterInfoKubeconfigKey];
  if (document === undefined) throw new StartupError('the cluster is not published: run plinth cluster-info');
  return argumentsFor(readPublishedCluster(document), token);
}

function argumentsFor({ server, authorities }: PublishedCluster, token: string): string {
  const { hostname, port } = new URL(server);
  const pins = authorities.map((authority) => `--discovery-token-ca-cert-hash ${publicKeyPin(authority)}`);
  return [`${hostname}:${port === '' ? 443 : port}`, '--token', token, ...pins].join(' ');
}
