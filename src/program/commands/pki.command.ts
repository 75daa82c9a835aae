import { join, resolve } from 'node:path';
import { parseOptions } from '../../config/parse-options.js';
import { PkiOptions } from '../../config/pki.options.js';
import { systemClock } from '../../machinery/clock.js';
import { type Command, parseRequest } from '../command.js';
import { writeFileAtomically } from '../files.js';
import { formatKubeconfig } from '../kubeconfig.js';
import { ensurePki } from '../pki/pki.js';

const groups = { pki: PkiOptions } as const;

export const pkiCommand: Command = {
  name: 'pki',
  summary: 'Make an authority, a serving certificate and an admin kubeconfig for servers with certificate files.',
  groups,
  defaults: {},
  async run(context) {
    const { certDir, server, tlsNames, serviceClusterIpRange } = parseOptions(parseRequest(groups, {}, context)).pki;
    const directory = resolve(certDir);
    const host = new URL(server).hostname.replace(/^\[(.*)\]$/, '$1');
    const pki = await ensurePki({
      directory,
      bindAddress: '0.0.0.0',
      serviceClusterIpRange,
      names: [host, ...tlsNames],
      clock: systemClock,
    });
    const kubeconfig = join(directory, 'admin.kubeconfig');
    const text = formatKubeconfig({ server, authority: pki.authority, client: pki.admin });
    await writeFileAtomically(kubeconfig, text, 0o600);
    context.print(`Serve with --tls-cert-file ${pki.serving.certificateFile}`);
    context.print(`           --tls-private-key-file ${pki.serving.privateKeyFile}`);
    context.print(`           --client-ca-file ${pki.authorityFile}`);
    context.print(`Admin kubeconfig: ${kubeconfig}`);
  },
};
