import { clusterInfoName } from '../../../../base/machinery/cluster-info-names.js';
import { upstreamSuffix, vendorNames } from '../../../../base/machinery/vendor.js';
import { isEntry } from '../../../../base/outgoing/client-config-document.js';
import { type Endpoint, httpsGet } from '../https-get.js';

/** The map `cluster-info` as somebody without credentials reads it. */
export interface ClusterInfoMap {
  /** The namespace where it is, which differs between spellings of the API. */
  readonly namespace: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Such a map has a kilobyte or two, and some hundred bytes for each token. */
const mostBytes = 1024 * 1024;

/** In which namespaces it can be: that of upstream's spelling first. */
const namespaces = (['kubernetes', ''] as const).map((compat) => vendorNames(upstreamSuffix, compat).publicNamespace);

/**
 * Reads the map without credentials. Redirects are not followed, and long responses not read.
 *
 * @param authority PEM that the server's certificate is checked against; without it any server may answer, so the
 * content must be verified in another way
 * @throws Error with the reason why the map could not be read
 */
export async function readClusterInfo(
  endpoint: Endpoint,
  authority: string | undefined,
  signal: AbortSignal,
): Promise<ClusterInfoMap> {
  let refusal = new Error('the server does not publish the ConfigMap cluster-info');
  for (const namespace of namespaces) {
    const path = `/api/v1/namespaces/${namespace}/configmaps/${clusterInfoName}`;
    const { status, text } = await httpsGet(endpoint, path, authority, mostBytes, signal);
    if (status === 200) return { namespace, data: dataOf(text) };
    if (status >= 300 && status < 400) throw new Error('the server points to another one, which is not followed');
    if (status !== 404) refusal = new Error(`the server answers ${status}`);
  }
  throw refusal;
}

function dataOf(text: string): Readonly<Record<string, unknown>> {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  const data = isEntry(body) ? body.data : undefined;
  if (!isEntry(data)) throw new Error('the server answers with something else');
  return data;
}
