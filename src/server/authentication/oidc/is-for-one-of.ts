/** Whether a token with this `aud` claim was issued for one of the clients. */
export function isForOneOf(clients: readonly string[], aud: unknown): boolean {
  const named: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  return clients.some((client) => named.includes(client));
}
