import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../../base/machinery/clock.js';
import type { Logger } from '../../../../base/observability/logger.js';
import { keepFile } from '../../own-files.js';
import { ensurePair, type Pki } from '../../pki/pki.js';
import type { MadeHere } from '../made-here.js';
import { certificateFolder } from './server-commands.js';

/** Name of the kubeconfig for the node agent that runs the servers of this machine. */
export const nodeKubeconfigName = 'node.kubeconfig';
const certificateDays = 365;

/**
 * Writes the kubeconfig of the agent that runs the servers. It can't join as others do: there is no API before it runs them. The
 * kubeconfig names the files of its certificate, so that a renewed certificate needs no other kubeconfig.
 */
export async function writeNodeKubeconfig(server: string, pki: Pki, made: MadeHere, logger: Logger): Promise<void> {
  const issuer = { certificate: pki.authority, privateKey: await readFile(pki.authorityKeyFile, 'utf8') };
  const { files } = await ensurePair(
    { directory: certificateFolder(made.directory), clock: systemClock },
    'node',
    {
      commonName: `system:node:${hostname().toLowerCase()}`,
      organization: 'system:nodes',
      usage: 'client',
      validDays: certificateDays,
    },
    issuer,
  );
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'plinth', cluster: { server, 'certificate-authority': pki.servingAuthorityFile } }],
    users: [
      { name: 'node', user: { 'client-certificate': files.certificateFile, 'client-key': files.privateKeyFile } },
    ],
    contexts: [{ name: 'node@plinth', context: { cluster: 'plinth', user: 'node' } }],
    'current-context': 'node@plinth',
  };
  const text = `${JSON.stringify(kubeconfig, undefined, 2)}\n`;
  await keepFile(made.files, join(made.directory, nodeKubeconfigName), text, logger);
}
