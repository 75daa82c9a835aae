import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { addressAt } from '../../../base/config/network.js';
import type { ParsedOptions } from '../../../base/config/parse-options.js';
import { firstServiceRange } from '../../../base/config/service-range.js';
import { parseSniCertificate } from '../../../base/config/sni-certificate.js';
import { watchCacheBytes } from '../../../base/config/watch-cache-bytes.js';
import { systemClock } from '../../../base/machinery/clock.js';
import { memoryLimits } from '../../../base/machinery/memory-limits.js';
import { errorText } from '../../../base/machinery/startup-error.js';
import { ExecPluginError } from '../../../base/outgoing/exec/exec-plugin-error.js';
import { accessOf } from '../api-access.js';
import { usualKubeconfig } from '../usual-kubeconfig.js';
import { authorityFinding, type PairToCheck, pairFinding, tokenKeyFindings } from './certificates.js';
import type { doctorGroups } from './doctor-groups.js';
import { fileFinding, fileFindings, isPlainFile } from './files.js';
import { error, type Finding, skipped } from './finding.js';
import { machineFindings, thisMachine } from './machine.js';

type Options = ParsedOptions<typeof doctorGroups>;

/** How many connections a process has besides its pool: one to write, one to listen. */
const ownConnections = 2;

/** Checks everything that the options name, in the order machine, database, files, certificates, cluster. */
export async function examine(
  groups: typeof doctorGroups,
  options: Options,
  usual: string | undefined,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const kubeconfig = options.client.kubeconfig ?? (options.client.server === undefined ? usualFile(usual) : undefined);
  return [
    ...(await machineFindings(await thisMachine(), machineNeeds(options))),
    ...(await database(options)),
    ...(await fileFindings(groups, options)),
    ...(typeof kubeconfig === 'object' ? [kubeconfig] : []),
    ...(typeof kubeconfig === 'string' && options.client.kubeconfig === undefined
      ? [await fileFinding('kubeconfig', kubeconfig)]
      : []),
    ...(await certificates(options)),
    ...(typeof kubeconfig === 'object' ? [] : await cluster(options, kubeconfig, signal)),
  ];
}

/** The file that the variable KUBECONFIG names, or its fault. */
function usualFile(usual: string | undefined): string | undefined | Finding {
  try {
    return usualKubeconfig(usual);
  } catch (fault) {
    const [text = '', remedy] = errorText(fault).split(': ');
    return error('kubeconfig', text, String(remedy));
  }
}

function machineNeeds({ storage, secureServing, audit }: Options) {
  const { auditLogPath } = audit;
  return {
    watchCacheMaxBytes: storage.watchCache
      ? watchCacheBytes(storage.watchCacheMaxBytes, secureServing.workers, availableParallelism(), memoryLimits())
      : 0,
    workers: secureServing.workers,
    folders: [
      { flag: 'cert-dir', path: secureServing.certDir ?? '.' },
      ...(auditLogPath === undefined || auditLogPath === '' || auditLogPath === '-'
        ? []
        : [{ flag: 'audit-log-path', path: join(auditLogPath, '..') }]),
    ],
    port: { address: secureServing.bindAddress, port: secureServing.securePort },
  };
}

async function database({ storage }: Options): Promise<readonly Finding[]> {
  const { databaseUrl, listenDatabaseUrl, readDatabaseUrl, databasePoolSize } = storage;
  if (databaseUrl === undefined) return [skipped('database', 'no --database-url')];
  const { databaseFindings } = await import('./database.js');
  const needs = { databaseUrl, listenDatabaseUrl, readDatabaseUrl, connections: databasePoolSize + ownConnections };
  return databaseFindings(needs, () => Date.now());
}

async function certificates(options: Options): Promise<readonly Finding[]> {
  const { authentication, controllers, nodeAgents, client } = options;
  const now = systemClock.now();
  const findings = await Promise.all(pairs(options).map((pair) => pairFinding(pair, now)));
  const authorities: readonly (readonly [string, string | undefined])[] = [
    ['--client-ca-file', authentication.clientCaFile],
    ['--requestheader-client-ca-file', authentication.requestheaderClientCaFile],
    ['--root-ca-file', controllers.rootCaFile],
    ['--kubelet-certificate-authority', nodeAgents.kubeletCertificateAuthority],
    ['--certificate-authority', client.certificateAuthority],
  ];
  for (const [flag, path] of authorities)
    if (path !== undefined) findings.push(await authorityFinding(flag, path, now));
  const signing = [
    { flag: '--service-account-signing-key-file', path: authentication.serviceAccountSigningKeyFile },
    { flag: '--service-account-private-key-file', path: controllers.serviceAccountPrivateKeyFile },
  ].flatMap(({ flag, path }) => (path === undefined ? [] : [{ flag, path }]));
  findings.push(...(await tokenKeyFindings(signing, authentication.serviceAccountKeyFile)));
  return findings.length > 0 ? findings : [skipped('certificates', 'no flag names one')];
}

function pairs(options: Options): PairToCheck[] {
  const { secureServing, controllers, aggregation, nodeAgents, client, cluster } = options;
  const { certDir = '.', tlsCertFile, tlsPrivateKeyFile, advertiseAddress } = secureServing;
  const found: PairToCheck[] = [];
  const add = (
    [flag, path]: readonly [string, string | undefined],
    [keyFlag, key]: readonly [string, string | undefined],
    rest: Pick<PairToCheck, 'usage' | 'names' | 'authority'>,
  ) => {
    // A missing file was reported already.
    if (path === undefined || key === undefined || !existsSync(path) || !existsSync(key)) return;
    found.push({ certificate: { flag, path }, key: { flag: keyFlag, path: key }, ...rest });
  };
  const range = firstServiceRange(cluster.serviceClusterIpRange);
  const names = [
    'localhost',
    'kubernetes.default.svc',
    ...(range === undefined ? [] : [addressAt(range, 1n)]),
    ...(advertiseAddress === undefined ? [] : [advertiseAddress]),
    ...(client.server === undefined ? [] : [new URL(client.server).hostname.replace(/^\[(.*)\]$/, '$1')]),
  ];
  const made = (name: string) => {
    const path = join(certDir, name);
    return existsSync(path) ? path : undefined;
  };
  add(
    ['--tls-cert-file', tlsCertFile ?? made('apiserver.crt')],
    ['--tls-private-key-file', tlsPrivateKeyFile ?? made('apiserver.key')],
    { usage: 'server', names, authority: controllers.rootCaFile ?? client.certificateAuthority },
  );
  for (const { certificate, privateKey, names: others } of secureServing.tlsSniCertKey.map(parseSniCertificate)) {
    // A pattern stands for any of its names.
    const named = others.map((name) => name.replace(/^\*/, 'any'));
    add(['--tls-sni-cert-key', certificate], ['--tls-sni-cert-key', privateKey], { usage: 'server', names: named });
  }
  add(
    ['--cluster-signing-cert-file', controllers.clusterSigningCertFile],
    ['--cluster-signing-key-file', controllers.clusterSigningKeyFile],
    { usage: 'ca' },
  );
  add(
    ['--proxy-client-cert-file', aggregation.proxyClientCertFile],
    ['--proxy-client-key-file', aggregation.proxyClientKeyFile],
    { usage: 'client', authority: options.authentication.requestheaderClientCaFile },
  );
  add(
    ['--kubelet-client-certificate', nodeAgents.kubeletClientCertificate],
    ['--kubelet-client-key', nodeAgents.kubeletClientKey],
    { usage: 'client' },
  );
  add(['--client-certificate', client.clientCertificate], ['--client-key', client.clientKey], { usage: 'client' });
  return found;
}

async function cluster({ client }: Options, kubeconfig: string | undefined, signal: AbortSignal) {
  if (kubeconfig === undefined && client.server === undefined)
    return [skipped('cluster', 'no --kubeconfig, and no KUBECONFIG')];
  const file = client.kubeconfig ?? kubeconfig;
  if (file !== undefined && existsSync(file) && !(await isPlainFile(file)))
    return [skipped('cluster', `${file} is not read here`)];
  const { clusterFindings } = await import('./cluster.js');
  try {
    return await clusterFindings(await accessOf(client, kubeconfig), signal);
  } catch (fault) {
    const text = errorText(fault);
    const remedy =
      fault instanceof ExecPluginError
        ? 'run the program by hand as the kubeconfig names it, or give --token, or --client-certificate and --client-key'
        : 'correct the file, or make a new one by plinth kubeconfig';
    return [error('kubeconfig', text, remedy)];
  }
}
