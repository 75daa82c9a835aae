import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { FieldPath } from '../../base/machinery/field-error.js';
import { validateNonSpecialIp } from '../../objects/apis/core/v1/validation/ip-address.validation.js';
import { canonicalIp } from '../../objects/apis/networking/v1/validation/ip-network.js';

/** Addresses reserved for documentation: no host has them, so packets to them follow the default route. */
const faraway = { udp4: '198.51.100.1', udp6: '2001:db8::1' } as const;

/** The options that determine the address of a process. */
export interface AddressOptions {
  readonly bindAddress: string;
  readonly advertiseAddress?: string | undefined;
}

/**
 * The address at which others reach a process: the advertised address if set, otherwise the one it listens on. For a
 * process that listens on all addresses or only on loopback, it is the host's address on its default route. Undefined
 * when no address fits into Endpoints: a loopback address means a different host to each reader.
 */
export async function advertisedAddress({
  bindAddress,
  advertiseAddress,
}: AddressOptions): Promise<string | undefined> {
  if (advertiseAddress !== undefined) return usable(advertiseAddress);
  const own = usable(bindAddress);
  if (own !== undefined) return own;
  const [first, second] = isIPv6(bindAddress) ? (['udp6', 'udp4'] as const) : (['udp4', 'udp6'] as const);
  return usable(await sourceAddress(first)) ?? usable(await sourceAddress(second));
}

function usable(address: string | undefined): string | undefined {
  if (address === undefined || validateNonSpecialIp(address, FieldPath.of('ip')).length > 0) return undefined;
  return canonicalIp(address);
}

/** The source address of packets to distant hosts, according to the routing table. Sends nothing. */
async function sourceAddress(type: keyof typeof faraway): Promise<string | undefined> {
  const socket = createSocket(type);
  try {
    socket.connect(9, faraway[type]);
    await once(socket, 'connect');
    return socket.address().address;
  } catch {
    return undefined;
  } finally {
    socket.close();
  }
}
