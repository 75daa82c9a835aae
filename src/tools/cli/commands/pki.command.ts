import { relative, resolve } from 'node:path';
import { parseOptions } from '../../../base/config/parse-options.js';
import { PkiOptions } from '../../../base/config/pki.options.js';
import { systemClock } from '../../../base/machinery/clock.js';
import { Logger } from '../../../base/observability/logger.js';
import { type Command, parseRequest } from '../command.js';
import { formatKubeconfig } from '../kubeconfig.js';
import { keepFile, OwnFiles } from '../own-files.js';
import { type CommandFlags, controlPlaneFlags } from '../pki/control-plane-flags.js';
import { ensurePki, nodeAgentClient } from '../pki/pki.js';
import { ensureServiceAccountKey } from '../pki/service-account-key.js';
import { programFile } from '../program-file.js';

const groups = { pki: PkiOptions } as const;

export const pkiCommand: Command = {
  name: 'pki',
  summary:
    'Create authorities, certificates, the key for account tokens and an admin kubeconfig, and print how to use them.',
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
    const tokenKey = await ensureServiceAccountKey(directory);
    const files = new OwnFiles(directory);
    const text = formatKubeconfig({ server, authority: pki.servingAuthority, client: pki.admin });
    await keepFile(files, kubeconfigName, text, new Logger());
    const flags = controlPlaneFlags(pki, tokenKey);
    context.print('Serve, on every machine that has these files:');
    context.print(commandLine('serve', flags.serve));
    context.print('Run the control loops, on one machine or more:');
    context.print(commandLine('controllers', flags.controllers));
    context.print('Let the server ask node agents, for logs and commands in pods:');
    context.print(
      `  kubectl create clusterrolebinding plinth:${nodeAgentClient} --clusterrole=system:kubelet-api-admin --user=${nodeAgentClient}`,
    );
    context.print(`Admin kubeconfig: ${files.path(kubeconfigName)}`);
  },
};

const kubeconfigName = 'admin.kubeconfig';

/** The command line in the form that a shell reads. */
function commandLine(command: string, flags: CommandFlags): string {
  const quoted = (text: string) => (/^[\w./:@=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const near = relative(process.cwd(), programFile);
  const start = `  node ${quoted(near.startsWith('..') ? programFile : near)} ${command}`;
  return [start, ...flags.map(([name, value]) => `    --${name} ${quoted(value)}`)].join(' \\\n');
}
