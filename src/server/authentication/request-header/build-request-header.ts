import type { AuthenticationOptions } from '../../../base/config/authentication.options.js';
import { OptionsError } from '../../../base/config/options-error.js';
import type { CertificatePool } from '../x509/certificate-pool.js';
import type { LiveRevocations } from '../x509/live-revocations.js';
import type { ClientAuthorities } from '../x509/tls-files.js';
import { RequestHeaderAuthenticator } from './request-header.authenticator.js';

/**
 * Checks that proxies and users have different CA certificates, at the start and whenever they change.
 *
 * @throws OptionsError when every user would count as a proxy and could act as anybody.
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

/** Accepts proxies with certificates from `pool`, as the `--requestheader-*` options describe. */
export function buildRequestHeader(
  options: AuthenticationOptions,
  pool: CertificatePool,
  now: () => number,
  revocations?: LiveRevocations,
): RequestHeaderAuthenticator {
  const names = {
    username: options.requestheaderUsernameHeaders,
    uid: options.requestheaderUidHeaders,
    groups: options.requestheaderGroupHeaders,
    extraPrefixes: options.requestheaderExtraHeadersPrefix,
  };
  return new RequestHeaderAuthenticator(names, options.requestheaderAllowedNames, pool, now, revocations);
}
