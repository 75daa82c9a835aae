import type { ServerOptions } from '../../base/config/server-options.js';
import { SimulatedNodesOptions } from '../../base/config/simulated-nodes.options.js';
import type { Running } from '../../base/machinery/lifecycle.js';
import { vendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import { fixedAccess } from '../../base/outgoing/api-access.js';
import { localUrl } from './kubeconfig.js';
import type { NodePki } from './pki/node-pki.js';
import type { Pki } from './pki/pki.js';
import { nodesOf } from './run-nodes.js';

export interface DevNodes {
  readonly count: number;
  /** The authority with which the nodes verify the server's certificate. */
  readonly authority: string;
  readonly pki: Pki;
  readonly nodePki: NodePki;
  readonly logger: Logger;
}

/** The simulated nodes of a server on this machine, which act with the rights of its administrator. */
export async function startDevNodes(
  { secureServing, cluster }: ServerOptions,
  { count, authority, pki, nodePki, logger }: DevNodes,
): Promise<Running> {
  return nodesOf({
    access: fixedAccess(localUrl(secureServing.bindAddress, secureServing.securePort), {
      ca: authority,
      cert: pki.admin.certificate,
      key: pki.admin.privateKey,
      serverName: undefined,
      insecureSkipVerify: false,
    }),
    names: vendorNames(cluster.vendor, cluster.compat),
    logger,
    options: { ...new SimulatedNodesOptions(), count, storageClass: true },
    server: { ...nodePki.server, port: 0, clientAuthority: nodePki.clientAuthority },
  });
}
