import { CelError } from '../cel-error.js';
import { charged, type LibraryBuilder } from '../function-table.js';
import { opaque, types } from '../values/cel-type.js';
import { OpaqueValue } from '../values/value.js';
import { addressText, type ParsedAddress, parseAddress } from './parse-address.js';

const { bool, int, string } = types;
const ipTypeName = 'net.IP';
const cidrTypeName = 'net.CIDR';
const ipType = opaque(ipTypeName);
const cidrType = opaque(cidrTypeName);

class IpValue extends OpaqueValue {
  readonly typeName = ipTypeName;

  constructor(readonly address: ParsedAddress) {
    super();
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof IpValue && isSame(this.address, other.address);
  }
}

class CidrValue extends OpaqueValue {
  readonly typeName = cidrTypeName;

  constructor(
    readonly address: ParsedAddress,
    readonly prefix: number,
  ) {
    super();
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof CidrValue && isSame(this.address, other.address) && this.prefix === other.prefix;
  }

  /** Whether an address has the prefix of this network. */
  contains({ family, value }: ParsedAddress): boolean {
    if (family !== this.address.family) return false;
    const rest = BigInt(bitsOf(family) - this.prefix);
    return value >> rest === this.address.value >> rest;
  }
}

function isSame(a: ParsedAddress, b: ParsedAddress): boolean {
  return a.family === b.family && a.value === b.value;
}

function bitsOf(family: 4 | 6): number {
  return family === 4 ? 32 : 128;
}

function ip(text: string): IpValue {
  const address = parseAddress(text);
  if (address === undefined) throw new CelError(`IP Address ${JSON.stringify(text.slice(0, 256))} is invalid`);
  return new IpValue(address);
}

function parseCidr(text: string): CidrValue | undefined {
  const match = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text);
  const address = match === null ? undefined : parseAddress(match[1] as string);
  if (address === undefined) return undefined;
  const prefix = Number(match?.[2]);
  return prefix <= bitsOf(address.family) ? new CidrValue(address, prefix) : undefined;
}

function cidr(text: string): CidrValue {
  const value = parseCidr(text);
  if (value === undefined)
    throw new CelError(`network address parse error during conversion from string: ${text.slice(0, 256)}`);
  return value;
}

function hasPrefix({ family, value }: ParsedAddress, network: string): boolean {
  const { address, prefix } = parseCidr(network) as CidrValue;
  if (address.family !== family) return false;
  const rest = BigInt(bitsOf(family) - prefix);
  return value >> rest === address.value >> rest;
}

function isIn(...networks: readonly string[]) {
  return (_: unknown, { address }: IpValue): boolean => networks.some((network) => hasPrefix(address, network));
}

function isGlobalUnicast(_: unknown, { address }: IpValue): boolean {
  const others = ['0.0.0.0/32', '255.255.255.255/32', '127.0.0.0/8', '224.0.0.0/4', '169.254.0.0/16'];
  const others6 = ['::/128', '::1/128', 'ff00::/8', 'fe80::/10'];
  return !(address.family === 4 ? others : others6).some((network) => hasPrefix(address, network));
}

/** The cost of one operation: addresses are numbers of more than 64 bits, so it takes some hundred nanoseconds. */
const stepCost = 40;

/** `ip`, `cidr` and their methods. */
export function addresses(outer: LibraryBuilder): void {
  const library = charged(outer, stepCost);
  library
    .fn('ip', [string], ipType, (_, text: string) => ip(text))
    .fn('isIP', [string], bool, (_, text: string) => parseAddress(text) !== undefined)
    .fn('ip.isCanonical', [string], bool, (_, text: string) => addressText(ip(text).address) === text)
    .fn('string', [ipType], string, (_, { address }: IpValue) => addressText(address))
    .method('family', [ipType], int, (_, { address }: IpValue) => BigInt(address.family))
    .method('isUnspecified', [ipType], bool, isIn('0.0.0.0/32', '::/128'))
    .method('isLoopback', [ipType], bool, isIn('127.0.0.0/8', '::1/128'))
    .method('isLinkLocalMulticast', [ipType], bool, isIn('224.0.0.0/24', 'ff02::/16'))
    .method('isLinkLocalUnicast', [ipType], bool, isIn('169.254.0.0/16', 'fe80::/10'))
    .method('isGlobalUnicast', [ipType], bool, isGlobalUnicast)
    .fn('cidr', [string], cidrType, (_, text: string) => cidr(text))
    .fn('isCIDR', [string], bool, (_, text: string) => parseCidr(text) !== undefined)
    .fn('string', [cidrType], string, (_, { address, prefix }: CidrValue) => `${addressText(address)}/${prefix}`)
    .method('containsIP', [cidrType, ipType], bool, (_, network: CidrValue, { address }: IpValue) =>
      network.contains(address),
    )
    .method('containsIP', [cidrType, string], bool, (_, network: CidrValue, text: string) =>
      network.contains(ip(text).address),
    )
    .method('containsCIDR', [cidrType, cidrType], bool, (_, network: CidrValue, other: CidrValue) =>
      covers(network, other),
    )
    .method('containsCIDR', [cidrType, string], bool, (_, network: CidrValue, text: string) =>
      covers(network, cidr(text)),
    )
    .method('ip', [cidrType], ipType, (_, { address }: CidrValue) => new IpValue(address))
    .method('masked', [cidrType], cidrType, (_, { address, prefix }: CidrValue) => {
      const rest = BigInt(bitsOf(address.family) - prefix);
      return new CidrValue({ ...address, value: (address.value >> rest) << rest }, prefix);
    })
    .method('prefixLength', [cidrType], int, (_, { prefix }: CidrValue) => BigInt(prefix));
}

function covers(network: CidrValue, other: CidrValue): boolean {
  return other.prefix >= network.prefix && network.contains(other.address);
}
