import type { AuthenticationOptions } from '../../config/authentication.options.js';
import type { CertificatePool } from '../x509/certificate-pool.js';
import { RequestHeaderAuthenticator } from './request-header.authenticator.js';

/** Proxies with certificates of `pool`, as the `--requestheader-*` options describe them. */
export function buildRequestHeader(
  options: AuthenticationOptions,
  pool: CertificatePool,
  now: () => number,
): RequestHeaderAuthenticator {
  const names = {
    username: options.requestheaderUsernameHeaders,
    uid: options.requestheaderUidHeaders,
    groups: options.requestheaderGroupHeaders,
    extraPrefixes: options.requestheaderExtraHeadersPrefix,
  };
  return new RequestHeaderAuthenticator(names, options.requestheaderAllowedNames, pool, now);
}
