/** What to do about a connection without TLS, or to a server that is not verified. */
export function tlsRemedy(flag: string): string {
  return `add sslmode=verify-full and sslrootcert to ${flag} (docs/security.md)`;
}
