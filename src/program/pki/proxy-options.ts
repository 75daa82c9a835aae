import type { AuthenticationOptions } from '../../config/authentication.options.js';

/** What proxies and extension servers expect who were made for the reference server. */
export const proxyHeaders = {
  requestheaderAllowedNames: ['front-proxy-client'],
  requestheaderUsernameHeaders: ['X-Remote-User'],
  requestheaderGroupHeaders: ['X-Remote-Group'],
  requestheaderExtraHeadersPrefix: ['X-Remote-Extra-'],
} as const;

/** Proxies with certificates of an authority of their own, named `front-proxy-client`, and their usual headers. */
export function proxyOptions(authorityFile: string): Partial<AuthenticationOptions> {
  return { requestheaderClientCaFile: authorityFile, ...proxyHeaders };
}
