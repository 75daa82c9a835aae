import { lookup as systemLookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { DeniedAddressError } from './denied-address-error.js';

/**
 * Ranges of addresses that this program must not connect to, even if somebody with the right to configure webhooks
 * requests it. What counts is the address itself at the time of the connection, never a name. An IPv4 address is
 * recognized in its IPv6 forms too: mapped, compatible, 6to4 and NAT64.
 */
export class DeniedAddresses {
  private readonly ranges = new BlockList();
  private readonly isEmpty: boolean;

  /** @param cidrs ranges such as `169.254.0.0/16`; throws for other text. */
  constructor(cidrs: readonly string[]) {
    for (const cidr of cidrs) {
      const slash = cidr.lastIndexOf('/');
      const address = cidr.slice(0, slash);
      this.ranges.addSubnet(address, Number(cidr.slice(slash + 1)), isIP(address) === 6 ? 'ipv6' : 'ipv4');
    }
    this.isEmpty = cidrs.length === 0;
  }

  /** @param address an IP address, without brackets */
  has(address: string): boolean {
    if (this.isEmpty) return false;
    const plain = address.includes('%') ? address.slice(0, address.indexOf('%')) : address;
    if (isIP(plain) !== 6) return this.ranges.check(plain, 'ipv4');
    const inner = embeddedIpv4(plain);
    return this.ranges.check(plain, 'ipv6') || (inner !== undefined && this.ranges.check(inner, 'ipv4'));
  }

  /**
   * Throws {@link DeniedAddressError} for a denied address. Names pass: {@link lookup} checks the addresses behind
   * them.
   */
  check(host: string): void {
    if (isIP(host) !== 0 && this.has(host)) throw new DeniedAddressError(host, host);
  }

  /** Resolves names for a connection, to allowed addresses only. The connection is made to what this returns. */
  readonly lookup: LookupFunction = (host, options, callback) => {
    systemLookup(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) {
        callback(error, []);
        return;
      }
      const allowed = addresses.filter(({ address }) => !this.has(address));
      const [first] = allowed;
      if (first === undefined) callback(new DeniedAddressError(host, addresses[0]?.address ?? 'no address'), []);
      else if (options.all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

/** The IPv4 address that an IPv6 address stands for. */
function embeddedIpv4(address: string): string | undefined {
  const groups = groupsOf(address);
  const upper = groups.slice(0, 6);
  const isZero = (parts: readonly number[]) => parts.every((part) => part === 0);
  const isMapped = isZero(upper.slice(0, 5)) && upper[5] === 0xffff;
  const isCompatible = isZero(upper) && ((groups[6] ?? 0) !== 0 || (groups[7] ?? 0) > 1);
  const isNat64 = upper[0] === 0x64 && upper[1] === 0xff9b && isZero(upper.slice(2));
  if (isMapped || isCompatible || isNat64) return ipv4Of(groups[6] ?? 0, groups[7] ?? 0);
  return groups[0] === 0x2002 ? ipv4Of(groups[1] ?? 0, groups[2] ?? 0) : undefined;
}

function ipv4Of(high: number, low: number): string {
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

function groupsOf(address: string): number[] {
  // The URL parser writes the canonical form, with a dotted end as two groups.
  const full = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = full.split('::');
  const read = (text: string | undefined) => (text ? text.split(':').map((group) => Number.parseInt(group, 16)) : []);
  const front = read(head);
  const back = read(tail);
  return [...front, ...Array.from({ length: 8 - front.length - back.length }, () => 0), ...back];
}
