import type { AuthenticationOptions } from '../../config/authentication.options.js';
import { OptionsError } from '../../config/parse-options.js';
import type { CertificatePool } from '../x509/certificate-pool.js';
import { RequestHeaderAuthenticator } from './request-header.authenticator.js';

/**
 * Proxies with certificates of `pool`, as the `--requestheader-*` options describe them.
 *
 * @param users the authorities of users' certificates
 * @throws OptionsError when every user would be a proxy, and so anybody.
 */
export function buildRequestHeader(
  options: AuthenticationOptions,
  pool: CertificatePool,
  users: CertificatePool | undefined,
  now: () => number,
): RequestHeaderAuthenticator {
  if (options.requestheaderAllowedNames.length === 0 && users?.overlaps(pool) === true) {
    throw new OptionsError([
      '--requestheader-client-ca-file has an authority of --client-ca-file and needs --requestheader-allowed-names as well',
    ]);
  }
  const names = {
    username: options.requestheaderUsernameHeaders,
    uid: options.requestheaderUidHeaders,
    groups: options.requestheaderGroupHeaders,
    extraPrefixes: options.requestheaderExtraHeadersPrefix,
  };
  return new RequestHeaderAuthenticator(names, options.requestheaderAllowedNames, pool, now);
}
