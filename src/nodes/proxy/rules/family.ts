/** An address family, named as in services. */
export type Family = 'IPv4' | 'IPv6';
