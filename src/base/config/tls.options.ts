import { IsIn } from 'class-validator';
import { Check } from './check.js';
import { Flag } from './flag.js';

const versions = { VersionTLS12: 'TLSv1.2', VersionTLS13: 'TLSv1.3' } as const;
const versionNames = ['', 'VersionTLS10', 'VersionTLS11', ...Object.keys(versions)];

/** Cipher suites up to TLS 1.2 by their registered names, as the library calls them. Those of TLS 1.3 are always on. */
const suites: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: 'ECDHE-ECDSA-AES128-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: 'ECDHE-RSA-AES128-SHA256',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA256: 'AES128-SHA256',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
};
const fixedSuites: ReadonlySet<string> = new Set([
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
]);
const suiteNames = [...Object.keys(suites), ...fixedSuites];

/** Groups of key exchanges by their registered numbers. */
const curves: Readonly<Record<string, string>> = {
  '23': 'prime256v1',
  '24': 'secp384r1',
  '25': 'secp521r1',
  '29': 'X25519',
  '4588': 'X25519MLKEM768',
};

function unknownOf(known: readonly string[], what: string) {
  return (values: readonly string[]): string | undefined => {
    const unknown = values.filter((value) => !known.includes(value));
    return unknown.length === 0
      ? undefined
      : `names the unknown ${what} ${unknown.join(', ')}; choose from ${known.join(', ')}`;
  };
}

/** How connections are encrypted. */
export class TlsOptions {
  @Flag({
    name: 'tls-min-version',
    type: 'string',
    values: versionNames.slice(1),
    unit: 'version',
    usage: 'Oldest version of TLS that is spoken. VersionTLS10 and VersionTLS11 mean VersionTLS12, the default.',
  })
  @IsIn(versionNames, { message: `must be one of ${versionNames.slice(1).join(', ')}` })
  readonly tlsMinVersion: string = '';

  @Flag({
    name: 'tls-cipher-suites',
    type: 'list',
    values: suiteNames,
    unit: 'names',
    usage: `Cipher suites for TLS 1.2; those of TLS 1.3 are always on. Unset: the usual ones. Names: ${suiteNames.join(', ')}.`,
  })
  @Check('suites', unknownOf(suiteNames, 'cipher suite'))
  readonly tlsCipherSuites: readonly string[] = [];

  @Flag({
    name: 'tls-curve-preferences',
    type: 'list',
    values: Object.keys(curves),
    unit: 'numbers',
    usage: `Groups for key exchanges, by their registered numbers: ${Object.entries(curves)
      .map(([number, name]) => `${number} (${name})`)
      .join(', ')}. Unset: the usual ones.`,
  })
  @Check('curves', unknownOf(Object.keys(curves), 'group'))
  readonly tlsCurvePreferences: readonly string[] = [];

  @Flag({
    name: 'disable-http2-serving',
    type: 'bool',
    usage: 'Speak HTTP/1.1 only. Long-running requests then need a connection each.',
  })
  readonly disableHttp2Serving: boolean = false;
}

/** Converts the options to settings of the TLS library. Options that keep their default are not set. */
export function tlsSettings(options: Readonly<TlsOptions>): {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  readonly ciphers?: string;
  readonly ecdhCurve?: string;
} {
  const { tlsMinVersion, tlsCipherSuites, tlsCurvePreferences } = options;
  const named = tlsCipherSuites.map((name) => suites[name]).filter((name) => name !== undefined);
  // The suites of TLS 1.3 are a separate list in the library, which an explicit list would replace.
  const ciphers = [...fixedSuites, ...named].join(':');
  return {
    minVersion: tlsMinVersion === 'VersionTLS13' ? 'TLSv1.3' : 'TLSv1.2',
    ...(tlsCipherSuites.length === 0 ? {} : { ciphers }),
    ...(tlsCurvePreferences.length === 0 ? {} : { ecdhCurve: tlsCurvePreferences.map((id) => curves[id]).join(':') }),
  };
}
