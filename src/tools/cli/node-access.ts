import { access as canRead } from 'node:fs/promises';
import type { AgentApiOptions } from '../../base/config/agent-api.options.js';
import { writeFileAtomically } from '../../base/machinery/files.js';
import { errorText, StartupError } from '../../base/machinery/startup-error.js';
import { systemTimers } from '../../base/machinery/timers.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import type { ApiAccess } from '../../base/outgoing/api-access.js';
import { certificateInfo } from '../../nodes/agent/node/certificate-info.js';
import { keepCertificate, requestNodeCertificate } from '../../nodes/agent/node/node-certificates.js';
import type { BootstrapApi } from '../../nodes/agent/node/rotate-certificate.js';
import { ApiConnection } from '../../nodes/connection/api-connection.js';
import { accessOfFile } from './api-access.js';

export interface NodeAccessRequest {
  readonly options: Readonly<AgentApiOptions>;
  readonly names: VendorNames;
  readonly nodeName: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

const retryMs = 5_000;

/**
 * Server and credentials of a node: those of its kubeconfig, which is made with the bootstrap kubeconfig if it is not there or if its
 * certificate has expired.
 */
export async function accessOfNode(request: NodeAccessRequest): Promise<ApiAccess> {
  const { kubeconfig, bootstrapKubeconfig } = request.options;
  if (kubeconfig === undefined) throw new StartupError('give a --kubeconfig');
  const isThere = await canRead(kubeconfig).then(
    () => true,
    () => false,
  );
  if (!isThere) {
    if (bootstrapKubeconfig === undefined)
      throw new StartupError(`there is no ${kubeconfig}: give a --bootstrap-kubeconfig`);
    await bootstrap(request, kubeconfig, bootstrapKubeconfig);
  }
  const access = await accessOfFile(kubeconfig);
  const { cert } = access.tls;
  const hasExpired = cert !== undefined && certificateInfo(cert).to <= systemTimers.now();
  if (!hasExpired || bootstrapKubeconfig === undefined) return access;
  request.logger.warn('the certificate of the node has expired: the node requests another one like a new node', {
    kubeconfig,
  });
  await bootstrap(request, kubeconfig, bootstrapKubeconfig);
  return accessOfFile(kubeconfig);
}

/** The API as the user of a bootstrap kubeconfig. */
export async function openBootstrapApi(bootstrapKubeconfig: string): Promise<BootstrapApi> {
  const connection = new ApiConnection(await accessOfFile(bootstrapKubeconfig), { userAgent: 'plinth-node' });
  return { api: connection.own(), stop: () => connection.stop() };
}

/** Asks for a certificate with the bootstrap credentials, until there is one, and writes a kubeconfig that names it. */
async function bootstrap(
  { options, names, nodeName, logger, signal }: NodeAccessRequest,
  kubeconfig: string,
  bootstrapKubeconfig: string,
): Promise<void> {
  const access = await accessOfFile(bootstrapKubeconfig);
  const connection = new ApiConnection(access, { userAgent: 'plinth-node' });
  try {
    for (;;) {
      try {
        const source = { api: connection.own(), names, nodeName, timers: systemTimers, folder: options.certDir };
        const pair = await requestNodeCertificate(source, { kind: 'client' }, signal);
        const path = await keepCertificate(options.certDir, 'client', pair, systemTimers.now());
        const { server, tls } = access;
        const cluster = {
          server,
          ...(tls.ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(tls.ca).toString('base64') }),
          ...(tls.insecureSkipVerify ? { 'insecure-skip-tls-verify': true } : {}),
        };
        const config = {
          apiVersion: 'v1',
          kind: 'Config',
          clusters: [{ name: 'default-cluster', cluster }],
          users: [{ name: 'default-auth', user: { 'client-certificate': path, 'client-key': path } }],
          contexts: [{ name: 'default-context', context: { cluster: 'default-cluster', user: 'default-auth' } }],
          'current-context': 'default-context',
        };
        await writeFileAtomically(kubeconfig, `${JSON.stringify(config, null, 2)}\n`, 0o600);
        return;
      } catch (error) {
        if (signal.aborted) throw new StartupError('stopped before the node had a certificate');
        logger.warn('the node has no certificate yet', { error: errorText(error) });
        await systemTimers.wait(retryMs, signal);
      }
    }
  } finally {
    connection.stop();
  }
}
