import type { AuthenticationOptions } from '../../config/authentication.options.js';

/** The headers that proxies and extension servers made for the reference server expect. */
export const proxyHeaders = {
  requestheaderAllowedNames: ['front-proxy-client'],
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
