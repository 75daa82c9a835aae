import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseOptions } from '../../../base/config/parse-options.js';
import { PkiOptions } from '../../../base/config/pki.options.js';
import { systemClock } from '../../../base/machinery/clock.js';
import { Logger } from '../../../base/observability/logger.js';
import { type Command, parseRequest } from '../command.js';
import { formatKubeconfig } from '../kubeconfig.js';
import { keepFile, OwnFiles } from '../own-files.js';
import { ensurePki, nodeAgentClient, type Pki } from '../pki/pki.js';
import { proxyHeaders } from '../pki/proxy-options.js';
import { ensureServiceAccountKey } from '../pki/service-account-key.js';

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
    context.print('Serve, on every machine that has these files:');
    context.print(commandLine('serve', serveFlags(pki, tokenKey)));
    context.print('Run the control loops, on one machine or more:');
    context.print(commandLine('controllers', controllersFlags(pki, tokenKey)));
    context.print('Let the server ask node agents, for logs and commands in pods:');
    context.print(
      `  kubectl create clusterrolebinding plinth:${nodeAgentClient} --clusterrole=system:kubelet-api-admin --user=${nodeAgentClient}`,
    );
    context.print(`Admin kubeconfig: ${files.path(kubeconfigName)}`);
  },
};

const kubeconfigName = 'admin.kubeconfig';
const program = fileURLToPath(new URL('../../../../../bin/plinth.js', import.meta.url));

type Flags = readonly (readonly [name: string, value: string])[];

function serveFlags(pki: Pki, tokenKey: string): Flags {
  return [
    ['tls-cert-file', pki.serving.certificateFile],
    ['tls-private-key-file', pki.serving.privateKeyFile],
    ['client-ca-file', pki.authorityFile],
    ['service-account-signing-key-file', tokenKey],
    ['requestheader-client-ca-file', pki.proxyAuthorityFile],
    ['requestheader-allowed-names', proxyHeaders.requestheaderAllowedNames.join()],
    ['requestheader-username-headers', proxyHeaders.requestheaderUsernameHeaders.join()],
    ['requestheader-group-headers', proxyHeaders.requestheaderGroupHeaders.join()],
    ['requestheader-extra-headers-prefix', proxyHeaders.requestheaderExtraHeadersPrefix.join()],
    ...proxyFlags(pki),
    ['kubelet-client-certificate', pki.nodeAgentClient.certificateFile],
    ['kubelet-client-key', pki.nodeAgentClient.privateKeyFile],
    // Without these, anyone who reaches the port may do everything. The admin kubeconfig belongs to system:masters.
    ['authorization-mode', 'Node,RBAC'],
    ['enable-admission-plugins', 'NodeRestriction'],
  ];
}

function controllersFlags(pki: Pki, tokenKey: string): Flags {
  return [
    ['cluster-signing-cert-file', pki.authorityFile],
    ['cluster-signing-key-file', pki.authorityKeyFile],
    ['service-account-private-key-file', tokenKey],
    ['root-ca-file', pki.servingAuthorityFile],
    ...proxyFlags(pki),
  ];
}

function proxyFlags({ proxy }: Pki): Flags {
  return [
    ['proxy-client-cert-file', proxy.certificateFile],
    ['proxy-client-key-file', proxy.privateKeyFile],
  ];
}

/** The command line in the form that a shell reads. */
function commandLine(command: string, flags: Flags): string {
  const quoted = (text: string) => (/^[\w./:@=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const near = relative(process.cwd(), program);
  const start = `  node ${quoted(near.startsWith('..') ? program : near)} ${command}`;
  return [start, ...flags.map(([name, value]) => `    --${name} ${quoted(value)}`)].join(' \\\n');
}
