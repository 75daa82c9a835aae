/** A family of addresses, as services name it. */
export type Family = 'IPv4' | 'IPv6';
