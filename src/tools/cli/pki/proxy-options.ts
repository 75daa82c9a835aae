import type { AuthenticationOptions } from '../../../base/config/authentication.options.js';

/** Common name of the certificate of a proxy. */
export const proxyName = 'front-proxy-client';

/** The headers that proxies and extension servers made for the reference server expect. */
export const proxyHeaders = {
  requestheaderAllowedNames: [proxyName],
  requestheaderUsernameHeaders: ['X-Remote-User'],
  requestheaderGroupHeaders: ['X-Remote-Group'],
  requestheaderExtraHeadersPrefix: ['X-Remote-Extra-'],
} as const;

/**
 * Options for proxies with certificates of an authority of their own, named `front-proxy-client`, and their usual
 * headers.
 */
export function proxyOptions(authorityFile: string): Partial<AuthenticationOptions> {
  return { requestheaderClientCaFile: authorityFile, ...proxyHeaders };
}
