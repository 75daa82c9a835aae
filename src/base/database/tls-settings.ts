import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { SecureVersion } from 'node:tls';
import { DatabaseUrlError } from './database-url-error.js';

/** How a connection to the database is protected. Files are read for each connection, so they may be renewed. */
export interface TlsSettings {
  /** `prefer`: in the clear if the server has no TLS. */
  readonly encrypt: 'never' | 'prefer' | 'always';
  /** What is verified about the server's certificate: nothing, its issuer, or also that it names the host. */
  readonly verify: 'nothing' | 'chain' | 'name';
  /** `direct`: the handshake begins without asking first, as PostgreSQL 17 and newer allow. */
  readonly negotiation: 'postgres' | 'direct';
  /** Path of the trusted certificates; `store`: those of the runtime and of the operating system. */
  readonly rootCertificates: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
  readonly passphrase: string | undefined;
  readonly revocations: string | undefined;
  readonly minVersion: SecureVersion | undefined;
  readonly maxVersion: SecureVersion | undefined;
  /** Whether the name of the host is sent in the clear, for a server that has several certificates. */
  readonly sendsName: boolean;
  /** Whether the password exchange is bound to the server's certificate. */
  readonly channelBinding: 'no' | 'prefer' | 'require';
}

type Environment = Readonly<Record<string, string | undefined>>;

/** `no-verify` is a mode of the driver: encrypted, and nothing is verified even with `sslrootcert`. */
const modes: ReadonlySet<string> = new Set([
  'disable',
  'allow',
  'prefer',
  'require',
  'verify-ca',
  'verify-full',
  'no-verify',
]);
const protocols: ReadonlyMap<string, SecureVersion> = new Map([
  ['tlsv1', 'TLSv1'],
  ['tlsv1.1', 'TLSv1.1'],
  ['tlsv1.2', 'TLSv1.2'],
  ['tlsv1.3', 'TLSv1.3'],
]);
/** The libpq parameters that are supported, and their environment variables. */
const variables = {
  sslmode: 'PGSSLMODE',
  sslnegotiation: 'PGSSLNEGOTIATION',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  sslpassword: undefined,
  sslcrl: 'PGSSLCRL',
  sslcertmode: 'PGSSLCERTMODE',
  sslsni: 'PGSSLSNI',
  ssl_min_protocol_version: 'PGSSLMINPROTOCOLVERSION',
  ssl_max_protocol_version: 'PGSSLMAXPROTOCOLVERSION',
  channel_binding: 'PGCHANNELBINDING',
  ssl: undefined,
} as const;
type Parameter = keyof typeof variables;
/**
 * Parameters that protect a connection, or choose its server, in a way that is not supported. Ignoring them would leave
 * less protection than requested. The values here request nothing.
 */
const refused: readonly (readonly [name: string, variable: string | undefined, harmless: readonly string[]])[] = [
  ['sslcrldir', 'PGSSLCRLDIR', []],
  ['sslcompression', 'PGSSLCOMPRESSION', ['0']],
  ['sslkeylogfile', undefined, []],
  ['requiressl', 'PGREQUIRESSL', ['0']],
  ['gssencmode', 'PGGSSENCMODE', ['disable', 'prefer']],
  ['require_auth', 'PGREQUIREAUTH', []],
  ['requirepeer', 'PGREQUIREPEER', []],
  ['hostaddr', 'PGHOSTADDR', []],
  ['service', 'PGSERVICE', []],
  ['servicefile', undefined, []],
];

/**
 * The TLS parameters of a connection URL, or of the environment where the URL has none, with the meaning that they have
 * for libpq. Removes them from `parameters`, because the driver reads them differently. Without `sslmode`, TLS is used
 * if the server offers it.
 *
 * @throws DatabaseUrlError for unknown values, and for parameters that can't be followed.
 */
export function databaseTlsSettings(parameters: URLSearchParams, environment: Environment): TlsSettings {
  const values = takeValues(parameters, environment);
  if (values.sslmode !== undefined && !modes.has(values.sslmode)) throw mustBe('sslmode', [...modes]);
  const mode = modeOf(values);
  if (mode === undefined || mode !== 'disable') refuseUnknown(parameters, environment);
  else refuseUnknown(parameters, {});
  for (const [name] of refused) parameters.delete(name);
  const negotiation = oneOf('sslnegotiation', values.sslnegotiation, ['postgres', 'direct']) ?? 'postgres';
  const { encrypt, verify, rootCertificates } = protection(mode, values.sslrootcert);
  if (negotiation === 'direct' && encrypt !== 'always') {
    throw new DatabaseUrlError('sslnegotiation=direct needs sslmode=require, verify-ca or verify-full');
  }
  const binding = oneOf('channel_binding', values.channel_binding, ['disable', 'prefer', 'require']);
  return {
    encrypt,
    verify,
    negotiation,
    rootCertificates,
    ...clientCertificate(values),
    revocations: values.sslcrl,
    minVersion: protocolOf('ssl_min_protocol_version', values.ssl_min_protocol_version),
    maxVersion: protocolOf('ssl_max_protocol_version', values.ssl_max_protocol_version),
    sendsName: oneOf('sslsni', values.sslsni, ['0', '1']) !== '0',
    channelBinding: binding === 'require' || binding === 'prefer' ? binding : 'no',
  };
}

type Values = Readonly<Record<Parameter, string | undefined>>;

function takeValues(parameters: URLSearchParams, environment: Environment): Values {
  const values: Partial<Record<Parameter, string | undefined>> = {};
  for (const [name, variable] of Object.entries(variables) as [Parameter, string | undefined][]) {
    const given = parameters.get(name) ?? (variable === undefined ? undefined : environment[variable]);
    values[name] = given === '' ? undefined : given;
    parameters.delete(name);
  }
  parameters.delete('uselibpqcompat');
  return values as Values;
}

/** `ssl` is a parameter of the driver, which verifies everything unless it is configured otherwise. */
function modeOf({ sslmode, ssl, sslnegotiation }: Values): string | undefined {
  if (sslmode !== undefined) return sslmode;
  if (ssl === 'true' || ssl === '1') return 'verify-full';
  if (ssl === 'false' || ssl === '0') return 'disable';
  if (ssl === 'no-verify') return 'no-verify';
  if (ssl !== undefined) throw mustBe('ssl', ['true', 'false', 'no-verify']);
  return sslnegotiation === 'direct' ? 'require' : undefined;
}

function protection(
  mode: string | undefined,
  given: string | undefined,
): Pick<TlsSettings, 'encrypt' | 'verify' | 'rootCertificates'> {
  if (given === 'system') {
    if (mode === 'disable' || mode === 'allow' || mode === 'prefer' || mode === 'no-verify') {
      throw new DatabaseUrlError(`sslmode=${mode} checks nothing, and sslrootcert=system asks for a check`);
    }
    return { encrypt: 'always', verify: 'name', rootCertificates: 'store' };
  }
  const roots = given ?? usual('root.crt');
  switch (mode) {
    case 'disable':
      return { encrypt: 'never', verify: 'nothing', rootCertificates: undefined };
    case 'no-verify':
      return { encrypt: 'always', verify: 'nothing', rootCertificates: undefined };
    case 'require':
      return { encrypt: 'always', verify: roots === undefined ? 'nothing' : 'chain', rootCertificates: roots };
    case 'verify-ca':
      // The authorities of a store issue certificates to anybody: without checking names there would be no protection.
      if (roots === undefined) throw new DatabaseUrlError('sslmode=verify-ca needs sslrootcert');
      return { encrypt: 'always', verify: 'chain', rootCertificates: roots };
    case 'verify-full':
      return { encrypt: 'always', verify: 'name', rootCertificates: roots ?? 'store' };
    default:
      return { encrypt: 'prefer', verify: given === undefined ? 'nothing' : 'chain', rootCertificates: given };
  }
}

function clientCertificate(values: Values): Pick<TlsSettings, 'certificate' | 'key' | 'passphrase'> {
  const certMode = oneOf('sslcertmode', values.sslcertmode, ['disable', 'allow', 'require']);
  if (certMode === 'require') throw new DatabaseUrlError('sslcertmode=require is not supported');
  const certificate = certMode === 'disable' ? undefined : (values.sslcert ?? usual('postgresql.crt'));
  if (certificate === undefined) return { certificate: undefined, key: undefined, passphrase: undefined };
  return { certificate, key: values.sslkey ?? usual('postgresql.key'), passphrase: values.sslpassword };
}

/** The file that libpq reads when none is named. */
function usual(name: string): string | undefined {
  const path = join(homedir(), '.postgresql', name);
  return existsSync(path) ? path : undefined;
}

function refuseUnknown(parameters: URLSearchParams, environment: Environment): void {
  for (const [name, variable, harmless] of refused) {
    const given = parameters.get(name);
    if (given !== null && given !== '' && !harmless.includes(given)) {
      throw new DatabaseUrlError(`the parameter ${name} is not supported`);
    }
    const inherited = variable === undefined ? undefined : environment[variable];
    if (given === null && inherited !== undefined && inherited !== '' && !harmless.includes(inherited)) {
      throw new DatabaseUrlError(`the variable ${variable} of the environment is not supported: unset it`);
    }
  }
}

function protocolOf(name: string, value: string | undefined): SecureVersion | undefined {
  if (value === undefined) return undefined;
  const version = protocols.get(value.toLowerCase());
  if (version === undefined) throw mustBe(name, ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3']);
  return version;
}

function oneOf<T extends string>(name: string, value: string | undefined, allowed: readonly T[]): T | undefined {
  if (value === undefined) return undefined;
  const found = allowed.find((word) => word === value);
  if (found === undefined) throw mustBe(name, allowed);
  return found;
}

function mustBe(name: string, allowed: readonly string[]): DatabaseUrlError {
  return new DatabaseUrlError(`${name} must be one of ${allowed.join(', ')}`);
}
