import { readFile } from 'node:fs/promises';
import type { ApiClientOptions } from '../../base/config/api-client.options.js';
import { StartupError } from '../../base/machinery/startup-error.js';
import type { ApiAccess } from '../../base/outgoing/api-access.js';
import {
  type ClientAuth,
  type ClientConfig,
  type ClientTls,
  type ClientTlsFiles,
  checkClientTls,
  loadClientConfig,
} from '../../base/outgoing/client-config.js';
import { ClientConfigError } from '../../base/outgoing/client-config-error.js';
import { ClientCredentials } from '../../base/outgoing/client-credentials.js';
import { usualKubeconfig } from './usual-kubeconfig.js';

/**
 * Server and credentials: those of the kubeconfig, except for the parts that flags set. A program that a kubeconfig
 * names for credentials has run once when this resolves, unless flags set others.
 *
 * @param usual the variable KUBECONFIG, which is used when neither a server nor a kubeconfig is named
 * @throws StartupError for files that can't be used, and for a program that returns no credentials
 */
export async function accessOf(options: Readonly<ApiClientOptions>, usual?: string): Promise<ApiAccess> {
  const kubeconfig = options.kubeconfig ?? (options.server === undefined ? usualKubeconfig(usual) : undefined);
  try {
    const base =
      kubeconfig === undefined ? undefined : loadClientConfig(kubeconfig, options.context, { runsPrograms: true });
    const config = await withFlags(base, options);
    const credentials = new ClientCredentials(config);
    await credentials.present();
    return {
      server: config.server,
      tls: config.tls,
      present: () => credentials.present(),
      renew: (refused) => credentials.renew(refused),
    };
  } catch (error) {
    if (error instanceof ClientConfigError) throw new StartupError(error.message);
    throw error;
  }
}

/** Server and credentials of a kubeconfig, as {@link accessOf}. */
export function accessOfFile(kubeconfig: string): Promise<ApiAccess> {
  const nothing = {
    context: undefined,
    server: undefined,
    certificateAuthority: undefined,
    clientCertificate: undefined,
    clientKey: undefined,
    token: undefined,
  };
  return accessOf({ ...nothing, kubeconfig });
}

async function withFlags(
  base: ClientConfig | undefined,
  { server, certificateAuthority, clientCertificate, clientKey, token }: Readonly<ApiClientOptions>,
): Promise<ClientConfig> {
  const address = server ?? base?.server;
  if (address === undefined) throw new StartupError('give a --server or a --kubeconfig');
  const bringsUser = (clientCertificate ?? clientKey ?? token) !== undefined;
  const files: ClientTlsFiles = {
    ca: certificateAuthority ?? base?.files.ca,
    cert: bringsUser ? clientCertificate : base?.files.cert,
    key: bringsUser ? clientKey : base?.files.key,
  };
  const read = (file: string | undefined) => (file === undefined ? undefined : readFile(file, 'utf8'));
  const tls: ClientTls = {
    ca: (await read(certificateAuthority)) ?? base?.tls.ca,
    cert: bringsUser ? await read(clientCertificate) : base?.tls.cert,
    key: bringsUser ? await read(clientKey) : base?.tls.key,
    serverName: base?.tls.serverName,
    insecureSkipVerify: certificateAuthority === undefined && base?.tls.insecureSkipVerify === true,
  };
  checkClientTls(tls, (problem) => new ClientConfigError(problem));
  const own: ClientAuth = token === undefined ? { kind: 'none' } : { kind: 'bearer', token };
  const auth = bringsUser ? own : (base?.auth ?? own);
  return { server: address, tls, auth, files, clusterExtras: base?.clusterExtras };
}
