import type { AuthenticationOptions } from '../../config/authentication.options.js';
import { OptionsError } from '../../config/parse-options.js';
import type { CertificatePool } from '../x509/certificate-pool.js';
import type { ClientAuthorities } from '../x509/tls-files.js';
import { RequestHeaderAuthenticator } from './request-header.authenticator.js';

/**
 * Keeps proxies and users apart, at the start and whenever their authorities change.
 *
 * @throws OptionsError when every user would be a proxy, and so anybody.
 */
export function checkProxyAuthorities(options: AuthenticationOptions, authorities: ClientAuthorities): void {
  const proxies = authorities.get('proxy');
  if (proxies === undefined || options.requestheaderAllowedNames.length > 0) return;
  if (authorities.get('client')?.isVouchedForBy(proxies) === true) {
    throw new OptionsError([
      '--requestheader-client-ca-file has an authority of --client-ca-file and needs --requestheader-allowed-names as well',
    ]);
  }
}

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
