import { BlockList, isIP } from 'node:net';
import { Check, pairProblem } from './check.js';
import { Flag } from './flag.js';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

function addressProblem(address: string, all: Readonly<Record<string, unknown>>): string | undefined {
  const family = isIP(address);
  if (family === 0) return 'must be an IP address';
  if (loopback.check(address, family === 6 ? 'ipv6' : 'ipv4')) return undefined;
  // Without TLS, an eavesdropper could read the credentials of all users.
  if (all.tlsCertFile === undefined) return 'must be a loopback address, or needs --tls-cert-file';
  return undefined;
}

function originsProblem(origins: readonly string[]): string | undefined {
  const wrong = origins.find((text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    return url === undefined || !/^https?:$/.test(url.protocol) || url.origin !== text;
  });
  return wrong === undefined ? undefined : 'must be origins such as https://console.example.com';
}

/** Paths that the console answers itself, and that a base path would hide. */
const taken: ReadonlySet<string> = new Set(['api', 'apis', 'console', 'history', 'metrics', 'openapi', 'version']);

function basePathProblem(path: string): string | undefined {
  const segments = path.split('/').slice(1);
  const isPath = /^(?:\/[A-Za-z0-9._-]+)+$/.test(path) && !segments.some((each) => /^\.+$/.test(each));
  if (!isPath) return 'must be a path such as /plinth, without a slash at its end';
  return taken.has(segments[0] ?? '')
    ? `must not begin with /${segments[0]}, which the console uses itself`
    : undefined;
}

function needsIssuer(value: unknown, all: Readonly<Record<string, unknown>>): string | undefined {
  return value !== undefined && all.oidcIssuerUrl === undefined ? 'needs --oidc-issuer-url as well' : undefined;
}

function issuerProblem(text: string, all: Readonly<Record<string, unknown>>): string | undefined {
  if (all.oidcClientId === undefined) return 'needs --oidc-client-id as well';
  return URL.canParse(text) && new URL(text).protocol === 'https:' ? undefined : 'must be an https URL';
}

/** The web page of `plinth console`. */
export class ConsoleOptions {
  @Flag({
    name: 'kubeconfig',
    type: 'string',
    unit: 'file',
    usage:
      'Kubeconfig whose contexts name the servers and how to verify them, the current one first. Its ' +
      'credentials are not used: everybody logs in with their own. Default: KUBECONFIG.',
  })
  readonly kubeconfig: string | undefined = undefined;

  @Flag({
    name: 'bind-address',
    type: 'string',
    unit: 'ip',
    usage: 'Address to listen on; others than loopback need TLS.',
  })
  @Check('ip', addressProblem)
  readonly bindAddress: string = '127.0.0.1';

  @Flag({ name: 'port', type: 'int', unit: 'port', usage: 'Port to listen on; 0: any.' })
  @Check<number>('port', (value) => (value >= 0 && value <= 65535 ? undefined : 'must be between 0 and 65535'))
  readonly port: number = 6480;

  @Flag({
    name: 'origin',
    type: 'list',
    unit: 'origins',
    usage:
      'Further origins under which browsers reach the console: its name in the network, or that of a proxy before it.',
  })
  @Check('origins', originsProblem)
  readonly origins: readonly string[] = [];

  @Flag({
    name: 'base-path',
    type: 'string',
    unit: 'path',
    usage:
      'Path below which a proxy serves the console, such as /plinth, whether or not the proxy takes it away from the ' +
      'requests that it passes on. Unset: the console has the whole origin.',
  })
  @Check('basePath', basePathProblem)
  readonly basePath: string | undefined = undefined;

  @Flag({ name: 'tls-cert-file', type: 'string', unit: 'file', usage: 'Certificate in PEM of the console.' })
  @Check('tlsPair', pairProblem('tlsPrivateKeyFile'))
  readonly tlsCertFile: string | undefined = undefined;

  @Flag({ name: 'tls-private-key-file', type: 'string', unit: 'file', usage: 'Private key in PEM of --tls-cert-file.' })
  @Check('tlsPair', pairProblem('tlsCertFile'))
  readonly tlsPrivateKeyFile: string | undefined = undefined;

  @Flag({
    name: 'session-lifetime',
    type: 'duration',
    usage: 'How long a login is valid. Sessions also end when the process does.',
  })
  @Check<number>('duration', (value) => (value >= 60_000 ? undefined : 'must be 1m0s or more'))
  readonly sessionMs: number = 8 * 3_600_000;

  @Flag({
    name: 'oidc-issuer-url',
    type: 'string',
    unit: 'url',
    usage:
      'OpenID Connect provider to log in with, whose ID tokens the server of the current context accepts. Register ' +
      '/console/oidc/callback of each origin there, below --base-path if there is one. Unset: none.',
  })
  @Check('oidcIssuer', issuerProblem)
  readonly oidcIssuerUrl: string | undefined = undefined;

  @Flag({
    name: 'oidc-client-id',
    type: 'string',
    usage: 'Id under which the console is registered with the provider.',
  })
  @Check('needsIssuer', needsIssuer)
  readonly oidcClientId: string | undefined = undefined;

  @Flag({
    name: 'oidc-client-secret-file',
    type: 'string',
    unit: 'file',
    usage: 'File with the secret of that client; unset for a public client, which PKCE alone protects.',
  })
  @Check('needsIssuer', needsIssuer)
  readonly oidcClientSecretFile: string | undefined = undefined;

  @Flag({
    name: 'oidc-ca-file',
    type: 'string',
    unit: 'file',
    usage: 'CA certificates in PEM for the provider. Default: those of the host.',
  })
  @Check('needsIssuer', needsIssuer)
  readonly oidcCaFile: string | undefined = undefined;

  @Flag({
    name: 'oidc-scopes',
    type: 'list',
    unit: 'scopes',
    usage: 'Scopes to ask the provider for; many give refresh tokens for offline_access only.',
  })
  @Check<readonly string[]>('scopes', (scopes) =>
    scopes.includes('openid') && scopes.every((scope) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope))
      ? undefined
      : 'must be scopes, openid among them',
  )
  readonly oidcScopes: readonly string[] = ['openid', 'email', 'profile'];

  @Flag({
    name: 'read-only',
    type: 'bool',
    usage: 'Forbid every change and every terminal in this console, whatever rights a user has.',
  })
  readonly readOnly: boolean = false;

  @Flag({
    name: 'sql-url',
    type: 'string',
    unit: 'url',
    usage:
      'PostgreSQL database of the server, as a role that may only read (plinth_reader), for SQL queries and ' +
      'the timeline of objects. Users need the verb get on the non-resource URL /sql. Unset: none.',
    secret: true,
  })
  @Check<string>('url', (value) =>
    /^postgres(ql)?:\/\//.test(value)
      ? undefined
      : 'must be a URL of the form postgresql://user:password@host:5432/database',
  )
  readonly sqlUrl: string | undefined = undefined;

  @Flag({ name: 'sql-timeout', type: 'duration', usage: 'How long an SQL query may take.' })
  @Check<number>('duration', (value) =>
    value >= 100 && value <= 600_000 ? undefined : 'must be between 100ms and 10m0s',
  )
  readonly sqlTimeoutMs: number = 10_000;

  @Flag({ name: 'sql-rows', type: 'int', unit: 'rows', usage: 'Maximum number of rows in the result of an SQL query.' })
  @Check<number>('rows', (value) => (value >= 1 && value <= 100_000 ? undefined : 'must be between 1 and 100000'))
  readonly sqlRows: number = 1000;
}
