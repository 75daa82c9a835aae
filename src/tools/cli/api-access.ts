import { readFile } from 'node:fs/promises';
import type { ApiClientOptions } from '../../base/config/api-client.options.js';
import { StartupError } from '../../base/machinery/startup-error.js';
import type { ApiAccess } from '../../base/outgoing/api-access.js';
import { ClientConfigError, checkClientTls, loadClientConfig } from '../../base/outgoing/client-config.js';
import { ClientCredentials } from '../../base/outgoing/client-credentials.js';
import { usualKubeconfig } from './usual-kubeconfig.js';

/**
 * Server and credentials: those of the kubeconfig, except for the parts that flags set.
 *
 * @param usual the variable KUBECONFIG, which is used when neither a server nor a kubeconfig is named
 * @throws StartupError for files that can't be used
 */
export async function accessOf(options: Readonly<ApiClientOptions>, usual?: string): Promise<ApiAccess> {
  const { context, server, certificateAuthority, clientCertificate, clientKey, token } = options;
  const kubeconfig = options.kubeconfig ?? (server === undefined ? usualKubeconfig(usual) : undefined);
  try {
    const base = kubeconfig === undefined ? undefined : loadClientConfig(kubeconfig, context);
    const address = server ?? base?.server;
    if (address === undefined) throw new StartupError('give a --server or a --kubeconfig');
    const read = (file: string | undefined) => (file === undefined ? undefined : readFile(file, 'utf8'));
    const bringsUser = (clientCertificate ?? clientKey ?? token) !== undefined;
    const tls = {
      ca: (await read(certificateAuthority)) ?? base?.tls.ca,
      cert: bringsUser ? await read(clientCertificate) : base?.tls.cert,
      key: bringsUser ? await read(clientKey) : base?.tls.key,
      serverName: base?.tls.serverName,
      insecureSkipVerify: certificateAuthority === undefined && base?.tls.insecureSkipVerify === true,
    };
    checkClientTls(tls, (problem) => new ClientConfigError(problem));
    if (token !== undefined) return { server: address, tls, authorization: async () => `Bearer ${token}` };
    if (base === undefined || bringsUser) return { server: address, tls, authorization: async () => undefined };
    const credentials = new ClientCredentials(base);
    return { server: address, tls, authorization: () => credentials.authorization() };
  } catch (error) {
    if (error instanceof ClientConfigError) throw new StartupError(error.message);
    throw error;
  }
}
