/** The usual texts for connections that fail. */
export function dialText(host: string, port: number, { code, message }: NodeJS.ErrnoException): string {
  const reasons: Readonly<Record<string, string>> = {
    ECONNREFUSED: 'connect: connection refused',
    EHOSTUNREACH: 'connect: no route to host',
    ENETUNREACH: 'connect: network is unreachable',
    ETIMEDOUT: 'i/o timeout',
  };
  const reason = reasons[code ?? ''];
  return reason === undefined ? message : `dial tcp ${host}:${port}: ${reason}`;
}
