import { systemTimers } from '../../base/machinery/timers.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import type { ApiAccess } from '../../base/outgoing/api-access.js';
import { type CertificatePair, keptCertificate } from '../../nodes/agent/node/node-certificates.js';
import { rotateCertificate } from '../../nodes/agent/node/rotate-certificate.js';
import type { NodeAgent } from '../../nodes/agent/node-agent.js';
import type { ApiConnection, ApiUser } from '../../nodes/connection/api-connection.js';
import type { NodeCommandOptions } from './commands/node-command-options.js';
import { openBootstrapApi } from './node-access.js';
import { servingPurpose } from './serving-purpose.js';

/** An agent whose certificates are renewed, and the connection that uses its client certificate. */
export interface Renewal {
  readonly options: NodeCommandOptions;
  readonly nodeName: string;
  readonly names: VendorNames;
  readonly logger: Logger;
  readonly agent: NodeAgent;
  readonly api: ApiUser;
  readonly access: ApiAccess;
  readonly connection: ApiConnection;
}

/** Renews the certificates of an agent for which its flags ask, until the signal; resolves when the renewals run. */
export async function renewNodeCertificates(renewal: Renewal, signal: AbortSignal): Promise<void> {
  const { options, nodeName, names, logger, agent, api, access, connection } = renewal;
  const { agentApi, agentServer } = options;
  const source = { api, names, nodeName, timers: systemTimers, folder: agentApi.certDir, random: Math.random, logger };
  const { cert } = access.tls;
  const { bootstrapKubeconfig } = agentApi;
  if (cert !== undefined && agentApi.rotateCertificates && bootstrapKubeconfig !== undefined) {
    const use = ({ certificate, privateKey }: CertificatePair) =>
      connection.renewTls({ ...access.tls, cert: certificate, key: privateKey });
    const bootstrap = () => openBootstrapApi(bootstrapKubeconfig);
    void rotateCertificate({ ...source, purpose: { kind: 'client' }, present: cert, use, bootstrap }, signal);
  }
  if (agentServer.enableServer && agentApi.rotateServerCertificates) {
    const purpose = await servingPurpose(options);
    const present = (await keptCertificate(agentApi.certDir, purpose, systemTimers.now()))?.certificate;
    void rotateCertificate({ ...source, purpose, present, use: (pair) => agent.useServingCertificate(pair) }, signal);
  }
}
