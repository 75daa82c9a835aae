import { X509Certificate } from 'node:crypto';
import { dirname, join } from 'node:path';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { loadClientConfig } from '../../../base/outgoing/client-config.js';
import { ClientConfigError } from '../../../base/outgoing/client-config-error.js';
import { formatKubeconfig } from '../kubeconfig.js';
import { OwnFiles } from '../own-files.js';
import { renewStored, storedCertificates } from '../pki/stored-pairs.js';
import { adminKubeconfigName } from './admin-kubeconfig.js';
import { MadeHere } from './made-here.js';

/**
 * Renews the certificates of a folder, and the kubeconfig of the administrator that has one of them in it.
 *
 * @param names those to renew, without `.crt`; none: all
 * @returns a line for each
 * @throws StartupError for a name that is not there, before anything is changed
 */
export async function renewCertificates(directory: string, names: readonly string[], now: number): Promise<string[]> {
  const stored = await storedCertificates(directory);
  const unknown = names.find((name) => !stored.some((each) => each.name === name));
  if (unknown !== undefined) {
    throw new StartupError(
      `there is no certificate ${unknown}: there are ${stored.map(({ name }) => name).join(', ')}`,
    );
  }
  const lines: string[] = [];
  for (const each of stored.filter(({ name }) => names.length === 0 || names.includes(name))) {
    const reason = await renewStored(directory, each, now);
    lines.push(reason === undefined ? `${each.name}: renewed` : `${each.name}: unchanged, ${reason}`);
    if (each.name === 'admin' && reason === undefined) lines.push(...(await renewKubeconfigs(directory)));
  }
  return lines;
}

/** The kubeconfigs that `plinth pki` and `plinth init` made beside the certificates, or in the folder above. */
async function renewKubeconfigs(directory: string): Promise<string[]> {
  const made = await MadeHere.openPresent(dirname(directory));
  const places = [
    { files: new OwnFiles(directory), name: adminKubeconfigName },
    ...(made === undefined ? [] : [{ files: made.files, name: join(made.directory, adminKubeconfigName) }]),
  ];
  const lines: string[] = [];
  for (const { files, name } of places) {
    if ((await files.read(name)) === undefined) continue;
    const path = files.path(name);
    const isOwn = (await files.mayWrite(name)) && (await hasAdmin(path));
    if (!isOwn) {
      lines.push(`${path}: unchanged, somebody changed it`);
      continue;
    }
    const certificates = new OwnFiles(directory);
    const [certificate = '', privateKey = ''] = [
      await certificates.read('admin.crt'),
      await certificates.read('admin.key'),
    ];
    const { server, tls } = loadClientConfig(path);
    const config = { server: server.replace(/\/$/, ''), authority: tls.ca ?? '', client: { certificate, privateKey } };
    await files.rewrite(name, formatKubeconfig(config));
    lines.push(`${path}: renewed`);
  }
  return lines;
}

/** Whether a kubeconfig shows a client certificate of the administrator. */
async function hasAdmin(path: string): Promise<boolean> {
  try {
    const { cert = '' } = loadClientConfig(path).tls;
    return new X509Certificate(cert).subject.includes('CN=admin');
  } catch (error) {
    if (error instanceof ClientConfigError) return false;
    throw error;
  }
}
