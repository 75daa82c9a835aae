import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { errorText } from '../../../base/machinery/startup-error.js';
import { isSignedBy } from '../pki/issue-certificate.js';
import { plainText } from './files.js';
import { error, type Finding, ok, warning } from './finding.js';

/** A certificate with its key, by the flags or names that they have. */
export interface PairToCheck {
  readonly certificate: { readonly flag: string; readonly path: string };
  readonly key: { readonly flag: string; readonly path: string };
  readonly usage: 'server' | 'client' | 'ca';
  /** Names that a server is reached by. */
  readonly names?: readonly string[];
  /** PEM file of the authorities that may have signed it. */
  readonly authority?: string | undefined;
}

const dayMs = 86_400_000;
const soonDays = 30;
const serverAuth = '1.3.6.1.5.5.7.3.1';
const clientAuth = '1.3.6.1.5.5.7.3.2';
const leastRsaBits = 2048;

/** Checks one pair: validity, key, purpose, names and chain. Reports its first fault. */
export async function pairFinding(pair: PairToCheck, now: number): Promise<Finding> {
  const { flag, path } = pair.certificate;
  const check = `certificate of ${flag}`;
  const chain = certificatesIn((await plainText(path).catch(() => undefined)) ?? '');
  const [leaf] = chain;
  if (leaf === undefined) return error(check, `${path} has no certificate in PEM`, `name another file by ${flag}`);
  const times = timesFinding(check, path, leaf, now);
  if (times?.verdict === 'error') return times;
  const key = keyOf((await plainText(pair.key.path).catch(() => undefined)) ?? '');
  if (key === undefined) {
    return error(check, `${pair.key.path} has no private key in PEM`, `name another file by ${pair.key.flag}`);
  }
  if (!leaf.checkPrivateKey(key)) {
    return error(
      check,
      `${pair.key.path} is not the key of ${path}`,
      `give the files that belong together to ${flag} and ${pair.key.flag}`,
    );
  }
  return (
    usageFinding(check, pair, leaf) ?? (await chainFinding(check, pair, chain)) ?? times ?? ok(check, validText(leaf))
  );
}

/** Checks a file of authorities: each certificate is an authority, and valid. */
export async function authorityFinding(flag: string, path: string, now: number): Promise<Finding> {
  const check = `authorities of ${flag}`;
  let text: string | undefined;
  try {
    text = await plainText(path);
  } catch (fault) {
    return error(check, errorText(fault), 'let the user of the server read it');
  }
  const found = certificatesIn(text ?? '');
  if (found.length === 0) return error(check, `${path} has no certificate in PEM`, `name another file by ${flag}`);
  const odd = found.find((one) => !one.ca);
  if (odd !== undefined) {
    return warning(
      check,
      `${nameOf(odd)} in ${path} is not that of an authority`,
      'put the certificate of whoever signs there, not one that was signed',
    );
  }
  const times = found.map((one) => timesFinding(check, path, one, now)).filter((one) => one !== undefined);
  return times.find(({ verdict }) => verdict === 'error') ?? times[0] ?? ok(check, found.map(validText).join('; '));
}

/** Checks the keys of service account tokens: each can be read, is strong, and verifies what is signed. */
export async function tokenKeyFindings(
  signing: readonly { readonly flag: string; readonly path: string }[],
  verifying: readonly string[],
): Promise<Finding[]> {
  const check = 'keys of account tokens';
  const publicKeys: KeyObject[] = [];
  for (const path of verifying) {
    const texts = ((await plainText(path).catch(() => undefined)) ?? '').match(pemBlock) ?? [];
    const keys = texts.map(publicKeyOf).filter((key) => key !== undefined);
    if (keys.length === 0) {
      return [error(check, `${path} has no key in PEM`, 'name another file by --service-account-key-file')];
    }
    publicKeys.push(...keys);
  }
  const findings: Finding[] = [];
  for (const { flag, path } of signing) {
    const key = keyOf((await plainText(path).catch(() => undefined)) ?? '');
    if (key === undefined) {
      findings.push(error(check, `${path} has no private key in PEM`, `name another file by ${flag}`));
      continue;
    }
    const bits = key.asymmetricKeyDetails?.modulusLength;
    const own = createPublicKey(key);
    if (bits !== undefined && bits < leastRsaBits) {
      findings.push(warning(check, `${path} has ${bits} bits only`, `make one of ${leastRsaBits} bits: plinth pki`));
    } else if (publicKeys.length > 0 && !publicKeys.some((one) => one.equals(own))) {
      findings.push(
        error(
          check,
          `tokens signed with ${path} are verified by no --service-account-key-file`,
          'add its public key there, beside the older ones',
        ),
      );
    } else findings.push(ok(check, `${path} signs ${key.asymmetricKeyType === 'ec' ? 'by ECDSA' : 'by RSA'}`));
  }
  return findings;
}

const pemBlock = /-----BEGIN ([A-Z ]+)-----[\s\S]*?-----END \1-----/g;

function certificatesIn(text: string): X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  return blocks.flatMap((block) => {
    try {
      return [new X509Certificate(block)];
    } catch {
      return [];
    }
  });
}

function keyOf(text: string): KeyObject | undefined {
  try {
    return createPrivateKey(text);
  } catch {
    return undefined;
  }
}

function publicKeyOf(text: string): KeyObject | undefined {
  try {
    return createPublicKey(text);
  } catch {
    return undefined;
  }
}

function nameOf({ subject }: X509Certificate): string {
  return subject.replaceAll('\n', ', ');
}

function validText(certificate: X509Certificate): string {
  return `${nameOf(certificate)}, valid until ${new Date(certificate.validTo).toISOString().slice(0, 10)}`;
}

function timesFinding(check: string, path: string, certificate: X509Certificate, now: number): Finding | undefined {
  const until = Date.parse(certificate.validTo);
  const from = Date.parse(certificate.validFrom);
  const remedy = 'renew it: plinth pki replaces its own certificates 30 days before they expire';
  if (until <= now) return error(check, `${path} expired on ${new Date(until).toISOString()}`, remedy);
  if (from > now) {
    return error(check, `${path} is not valid before ${new Date(from).toISOString()}`, 'set the clock of this machine');
  }
  const days = Math.floor((until - now) / dayMs);
  return days < soonDays ? warning(check, `${path} expires in ${days} days`, remedy) : undefined;
}

function usageFinding(check: string, { usage, names = [], certificate }: PairToCheck, leaf: X509Certificate) {
  if (usage === 'ca') {
    return leaf.ca
      ? undefined
      : error(check, `${certificate.path} may not sign`, 'use the certificate of an authority');
  }
  const purposes = leaf.keyUsage as readonly string[] | undefined;
  const wanted = usage === 'server' ? serverAuth : clientAuth;
  if (purposes !== undefined && purposes.length > 0 && !purposes.includes(wanted)) {
    return error(
      check,
      `${certificate.path} is not meant for ${usage}s`,
      `issue one with the usage "${usage} auth" (${wanted})`,
    );
  }
  const missing = names.filter((name) => (isIP(name) === 0 ? leaf.checkHost(name) : leaf.checkIP(name)) === undefined);
  if (missing.length === 0) return undefined;
  return warning(
    check,
    `${certificate.path} lacks the ${missing.length === 1 ? 'name' : 'names'} ${missing.join(', ')}`,
    `issue one with them: plinth pki --tls-names ${missing.join(',')}`,
  );
}

async function chainFinding(check: string, pair: PairToCheck, chain: readonly X509Certificate[]) {
  const { path } = pair.certificate;
  for (const [index, one] of chain.entries()) {
    const next = chain[index + 1];
    if (next !== undefined && !isSignedBy(one, next.toString())) {
      return error(
        check,
        `in ${path}, certificate ${index + 1} is not signed by the next one`,
        'put the certificate first, then the one that signed it, and so on',
      );
    }
  }
  const last = chain.at(-1);
  const authorities = certificatesIn((await plainText(pair.authority ?? '').catch(() => undefined)) ?? '');
  if (authorities.length === 0 || last === undefined) return undefined;
  const isKnown = authorities.some(
    (one) => one.fingerprint256 === last.fingerprint256 || isSignedBy(last, one.toString()),
  );
  if (isKnown) return undefined;
  return error(
    check,
    `${path} does not lead to an authority in ${pair.authority}`,
    'add the intermediate certificates to it, or give the right authority',
  );
}
