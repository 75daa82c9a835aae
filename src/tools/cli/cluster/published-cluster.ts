import type { X509Certificate } from 'node:crypto';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { readYaml } from '../../../base/machinery/yaml/read-yaml.js';
import { isEntry } from '../../../base/outgoing/client-config-document.js';
import { pemCertificates } from './pem-certificates.js';

/** The content of the map `cluster-info`. */
export interface PublishedCluster {
  /** URL of the API without a slash at the end. */
  readonly server: string;
  /** PEM. */
  readonly authority: string;
  readonly authorities: readonly X509Certificate[];
}

/**
 * Reads the kubeconfig in `cluster-info` (specification 2.9): one cluster, which brings its authority.
 *
 * @throws StartupError for any other text
 */
export function readPublishedCluster(document: string): PublishedCluster {
  const fault = (problem: string) => new StartupError(`the published information of the cluster ${problem}`);
  let root: unknown;
  try {
    root = readYaml(document);
  } catch {
    throw fault('is neither YAML nor JSON');
  }
  const clusters = isEntry(root) && Array.isArray(root.clusters) ? root.clusters : [];
  const [entry] = clusters;
  const cluster = isEntry(entry) ? entry.cluster : undefined;
  if (clusters.length !== 1 || !isEntry(cluster)) throw fault('does not name exactly one cluster');
  const { server, 'certificate-authority-data': data } = cluster;
  const url = typeof server === 'string' && URL.canParse(server) ? new URL(server) : undefined;
  if (url?.protocol !== 'https:' || url.username !== '' || url.hash !== '') throw fault('has no https URL of a server');
  const authority = Buffer.from(typeof data === 'string' ? data : '', 'base64').toString('utf8');
  let authorities: X509Certificate[];
  try {
    authorities = pemCertificates(authority);
  } catch {
    throw fault('has an authority that cannot be read');
  }
  if (authorities.length === 0) throw fault('has no authority');
  return { server: url.href.replace(/\/$/, ''), authority, authorities };
}
