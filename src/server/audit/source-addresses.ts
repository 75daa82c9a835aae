import { isIP } from 'node:net';

/** Maximum number of addresses taken from headers: the last ones, which are those of the nearest proxies. */
const maxForwarded = 16;

interface Fields {
  readonly [name: string]: string | string[] | undefined;
}

/**
 * The addresses that a request passed through: those claimed by `X-Forwarded-For` and `X-Real-Ip`, then the remote
 * address of the connection. Only the remote address is certain.
 */
export function sourceAddresses(headers: Fields, remote: string | undefined): readonly string[] {
  const own = remote === undefined ? undefined : plainAddress(remote);
  const forwarded = headers['x-forwarded-for'];
  const realIp = headers['x-real-ip'];
  if (forwarded === undefined && realIp === undefined) return own === undefined ? [] : [own];
  const found: string[] = [];
  // Only the end of the field is read, however long it is.
  const claimed = String(forwarded ?? '')
    .slice(-4096)
    .split(',');
  for (const text of claimed.slice(-maxForwarded)) {
    const address = plainAddress(text.trim());
    if (address !== undefined) found.push(address);
  }
  const real = plainAddress(String(realIp ?? '').trim());
  if (real !== undefined && !found.includes(real)) found.push(real);
  if (own !== undefined && found.at(-1) !== own) found.push(own);
  return found;
}

/** The address without its zone, which may contain anything; undefined for a string that is not an address. */
function plainAddress(text: string): string | undefined {
  const zone = text.indexOf('%');
  const address = zone < 0 ? text : text.slice(0, zone);
  const old = address.startsWith('::ffff:') ? address.slice(7) : '';
  if (isIP(old) === 4) return old;
  return isIP(address) === 0 ? undefined : address;
}
