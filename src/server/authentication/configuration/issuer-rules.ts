import { X509Certificate } from 'node:crypto';
import { type FieldError, type FieldPath, invalid } from '../../../base/machinery/field-error.js';

const pemBlock = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
const domain = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** A URL must use https and have no user, query or fragment. */
export function issuerUrlProblem(text: string, path: FieldPath): FieldError | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return invalid(path, text, 'must be a URL');
  if (url.protocol !== 'https:') return invalid(path, text, 'URL scheme must be https');
  if (url.username !== '' || url.password !== '') {
    // The complete URL would reveal a password.
    return invalid(path, `${url.protocol}//${url.host}`, 'URL must not contain a username or password');
  }
  if (text.includes('?')) return invalid(path, text, 'URL must not contain a query');
  return text.includes('#') ? invalid(path, text, 'URL must not contain a fragment') : undefined;
}

export function certificatesProblem(pem: string, path: FieldPath): FieldError | undefined {
  const blocks = pem.match(pemBlock) ?? [];
  if (blocks.length === 0) return invalid(path, '<omitted>', 'has no certificate in PEM');
  try {
    for (const block of blocks) new X509Certificate(block);
    return undefined;
  } catch {
    return invalid(path, '<omitted>', 'has a certificate that cannot be read');
  }
}

/** A key of `extra` must be `domain/path` in lower case, in a domain that this server does not reserve. */
export function extraKeyProblem(key: string, reserved: readonly string[], path: FieldPath): FieldError | undefined {
  if (key !== key.toLowerCase()) return invalid(path, key, 'key must be lowercase');
  const slash = key.indexOf('/');
  const host = key.slice(0, Math.max(0, slash));
  if (slash < 0 || !domain.test(host))
    return invalid(path, key, 'must be a domain-prefixed path (such as "acme.io/foo")');
  const rest = key.slice(slash + 1);
  if (!/^[a-z0-9\-._~%!$&'()*+,;=:@/]+$/.test(rest))
    return invalid(path, key, 'must have a valid path after the domain');
  const own = reserved.find((name) => host === name || host.endsWith(`.${name}`));
  return own === undefined ? undefined : invalid(path, key, `${own} is reserved for the server`);
}
