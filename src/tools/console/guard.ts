import type { IncomingHttpHeaders } from 'node:http';

/**
 * Headers of every response. Nothing comes from elsewhere, nothing runs that is not a file of the console, and no page
 * shows it in a frame. Trusted types: scripts can't make HTML of text, whatever mistake they make.
 */
export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
};

/** The policy for responses that other programs wrote: a browser that is made to show one runs nothing in it. */
export const foreignPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox";

/** The addresses under which browsers reach the console, such as `http://127.0.0.1:6480`. */
export class Origins {
  private readonly hosts: ReadonlySet<string>;
  private readonly origins: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    const urls = origins.map((origin) => new URL(origin));
    this.origins = new Set(urls.map(({ origin }) => origin));
    this.hosts = new Set(urls.map(({ host }) => host));
  }

  /**
   * Why a request is refused, or undefined. A page of another site that has its name resolved to this machine gives itself away
   * by the Host header; one that sends requests here from its own name, by Origin or Sec-Fetch-Site.
   *
   * @param isPage for the files of the page itself, which links of other sites may lead to
   */
  problem(headers: IncomingHttpHeaders, method: string, isPage: boolean): string | undefined {
    const { host = '', origin, 'sec-fetch-site': site } = headers;
    if (!this.hosts.has(host.toLowerCase())) return 'the console has another address: see --origin';
    if (origin !== undefined && !this.origins.has(origin)) return 'the request comes from another origin';
    const isRead = method === 'GET' || method === 'HEAD';
    if (!isRead && origin === undefined) return 'a request that changes anything needs an Origin';
    if (isPage && isRead) return undefined;
    if (site !== undefined && site !== 'same-origin') return 'the request comes from another site';
    return undefined;
  }
}

/** The value of a cookie; undefined when it is missing or there are two, of which one is not ours. */
export function cookieOf(header: string | undefined, name: string): string | undefined {
  const found = (header ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`));
  return found.length === 1 ? found[0]?.slice(name.length + 1) : undefined;
}
