import type { IncomingMessage } from 'node:http';

/**
 * Lets a server of HTTP/1.1 upgrade only connections whose bytes from then on can be nothing else than the new protocol, and for which
 * `isWanted` is true. All other upgrades are ignored, as HTTP allows: the request gets a normal response. So are those of requests with a
 * body, which would have to be read before the first frame, and those that a client sends before it has got the response to the
 * request before, which the new protocol would overtake or mix with.
 */
export function restrictUpgrades(server: object, isWanted: (request: IncomingMessage) => boolean = () => true): void {
  // The types of servers do not have this property, which all servers of HTTP/1.1 read.
  (server as { shouldUpgradeCallback?: (request: IncomingMessage) => boolean }).shouldUpgradeCallback = (request) =>
    !hasBody(request) && !isBehindAnother(request) && isWanted(request);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}

/** Whether the connection still has an earlier request to respond to. Node keeps its response on the socket. */
function isBehindAnother({ socket }: IncomingMessage): boolean {
  return ((socket as { _httpMessage?: unknown })._httpMessage ?? undefined) !== undefined;
}
