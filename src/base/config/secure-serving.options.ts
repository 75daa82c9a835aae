import { isIP } from 'node:net';
import { IsIn, Max, Min } from 'class-validator';
import { Check } from './check.js';
import { Flag } from './flag.js';
import { parseSniCertificate } from './sni-certificate.js';
import { TlsOptions } from './tls.options.js';

function problemOfPairs(pairs: readonly string[]): string | undefined {
  try {
    pairs.forEach(parseSniCertificate);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

const reconcilers = ['lease', 'none', 'master-count'] as const;

/** The address and the certificate under which the API is served. */
export class SecureServingOptions extends TlsOptions {
  @Flag({ name: 'bind-address', type: 'string', unit: 'ip', usage: 'Address to listen on.' })
  @Check<string>('ip', (value) => (isIP(value) === 0 ? 'must be an IP address' : undefined))
  readonly bindAddress: string = '0.0.0.0';

  @Flag({
    name: 'advertise-address',
    type: 'string',
    unit: 'ip',
    usage:
      'Address under which others reach this process, published in Endpoints default/kubernetes. Default: --bind-address, or ' +
      "the host's address when that is loopback or all addresses.",
  })
  @Check<string>('ip', (value) => (isIP(value) === 0 ? 'must be an IP address' : undefined))
  readonly advertiseAddress: string | undefined = undefined;

  @Flag({
    name: 'endpoint-reconciler-type',
    type: 'string',
    values: reconcilers,
    usage:
      'lease: the addresses of all serving processes are published in Endpoints default/kubernetes. none: this process publishes ' +
      'nothing. master-count means lease.',
  })
  @IsIn(reconcilers, { message: `must be one of ${reconcilers.join(', ')}` })
  readonly endpointReconcilerType: (typeof reconcilers)[number] = 'lease';

  @Flag({ name: 'secure-port', type: 'int', unit: 'port', usage: 'HTTPS port. It cannot be turned off with 0.' })
  @Check<number>('port', (value) =>
    value >= 1 && value <= 65535 ? undefined : 'must be between 1 and 65535; HTTPS cannot be turned off with 0',
  )
  readonly securePort: number = 6443;

  @Flag({
    name: 'tls-cert-file',
    type: 'string',
    unit: 'file',
    usage: 'Serving certificate in PEM, followed by its intermediates. Without it one is made in --cert-dir.',
  })
  @Check<string>('tlsPair', (_, all) =>
    all.tlsPrivateKeyFile === undefined ? 'needs --tls-private-key-file as well' : undefined,
  )
  readonly tlsCertFile: string | undefined = undefined;

  @Flag({
    name: 'tls-private-key-file',
    type: 'string',
    unit: 'file',
    usage: 'Private key in PEM of --tls-cert-file.',
  })
  @Check<string>('tlsPair', (_, all) => (all.tlsCertFile === undefined ? 'needs --tls-cert-file as well' : undefined))
  readonly tlsPrivateKeyFile: string | undefined = undefined;

  @Flag({
    name: 'tls-sni-cert-key',
    type: 'array',
    unit: 'pair',
    files: (pairs) =>
      (pairs as readonly string[])
        .map(parseSniCertificate)
        .flatMap(({ certificate, privateKey }) => [certificate, privateKey]),
    usage:
      'Certificate and key in PEM for clients that ask for other host names: tls.crt,tls.key, or with the names: ' +
      'tls.crt,tls.key:*.example.com,example.com. Without names, those of the certificate. May be given several times; ' +
      'whole names count before patterns, and names given here before names of certificates.',
  })
  @Check<readonly string[]>('pairs', problemOfPairs)
  readonly tlsSniCertKey: readonly string[] = [];

  @Flag({
    name: 'cert-dir',
    type: 'string',
    unit: 'folder',
    usage: 'Where generated certificates are kept; unset with plinth dev: pki in --data-dir.',
  })
  readonly certDir: string | undefined = undefined;

  @Flag({
    name: 'workers',
    type: 'int',
    unit: 'processes',
    usage:
      'Processes that share the port and the connections to the database, each with its part of the request limits. 0: one per core.',
  })
  @Min(0, { message: 'must not be negative' })
  @Max(256, { message: 'must not be above 256' })
  readonly workers: number = 1;

  @Flag({
    name: 'workers-read-directly',
    type: 'bool',
    usage:
      'With --workers, each process reads over up to --database-pool-size connections of its own, not over those of the ' +
      'process that writes for all. Spares that process work where very many objects are read, at the price of more work ' +
      'for the database.',
  })
  readonly workersReadDirectly: boolean = false;

  @Flag({
    name: 'http2-max-streams-per-connection',
    type: 'int',
    unit: 'streams',
    usage: 'Maximum number of concurrent requests on one HTTP/2 connection. 0: 250.',
  })
  @Min(0, { message: 'must not be negative' })
  @Max(2_147_483_647, { message: 'must not be above 2147483647' })
  readonly http2MaxStreamsPerConnection: number = 0;

  @Flag({
    name: 'max-connections-per-address',
    type: 'int',
    unit: 'connections',
    usage:
      'Maximum number of connections from one client address to a process; a balancer in front counts as one. 0: ' +
      'no limit.',
  })
  @Min(0, { message: 'must not be negative' })
  readonly maxConnectionsPerAddress: number = 5000;

  @Flag({
    name: 'max-requests-per-address',
    type: 'int',
    unit: 'requests',
    usage:
      'Maximum number of concurrent requests and watches from one client address to a process; more get 429. 0: ' +
      'no limit.',
  })
  @Min(0, { message: 'must not be negative' })
  readonly maxRequestsPerAddress: number = 50_000;

  @Flag({
    name: 'goaway-chance',
    type: 'number',
    usage: 'Chance (0 to 0.02) that a request makes its HTTP/2 client reconnect, to spread clients over replicas.',
  })
  @Min(0, { message: 'must be between 0 and 0.02' })
  @Max(0.02, { message: 'must be between 0 and 0.02' })
  readonly goawayChance: number = 0;
}
