import { isIP } from 'node:net';
import { parseCidr } from '../../../base/config/network.js';

/** A port of the bridge, and what the pod behind it may send as. */
export interface PodPort {
  /** The interface of the machine. */
  readonly name: string;
  readonly hardwareAddress: string;
  readonly addresses: readonly string[];
}

interface PluginResult {
  readonly result?: {
    readonly interfaces?: readonly { readonly name?: string; readonly mac?: string; readonly sandbox?: string }[];
    readonly ips?: readonly { readonly address?: string; readonly interface?: number }[];
  };
}

const portName = /^[A-Za-z0-9_.-]{1,15}$/;
const hardwareAddress = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/;

/**
 * The port of a pod, from what the plugins have answered.
 *
 * @param text the record of the library that runs plugins
 * @returns undefined for a network without this bridge
 * @throws SyntaxError for a record that is being written
 */
export function podPort(text: string, bridge: string): PodPort | undefined {
  const { interfaces = [], ips = [] } = (JSON.parse(text) as PluginResult).result ?? {};
  if (!interfaces.some(({ name, sandbox }) => name === bridge && !sandbox)) return undefined;
  const port = interfaces.find(({ name, sandbox }) => name !== bridge && !sandbox)?.name ?? '';
  const inside = interfaces.findIndex(({ sandbox }) => sandbox);
  const mac = interfaces[inside]?.mac?.toLowerCase() ?? '';
  const addresses = ips
    .filter((ip) => ip.interface === undefined || ip.interface === inside)
    .map(({ address = '' }) => address.split('/')[0] ?? '')
    .filter((address) => isIP(address) !== 0);
  if (!portName.test(port) || !hardwareAddress.test(mac) || addresses.length === 0) return undefined;
  return { name: port, hardwareAddress: mac, addresses };
}

/** The table of a bridge. */
export function senderTable(bridge: string): string {
  return `plinth-senders-${bridge}`;
}

/** Removes the table of a bridge, whether or not it is there. */
export function noSenderRules(bridge: string): string {
  const table = `table bridge ${senderTable(bridge)}`;
  return `add ${table}\ndelete ${table}\n`;
}

/**
 * A transaction of nft that lets the pods of a bridge send as themselves and as nobody else: frames and address
 * resolution with their hardware address, packets with their addresses, and nothing else that could redirect the
 * packets of others. Ports that are not named are not concerned.
 */
export function senderRules(bridge: string, ports: readonly PodPort[]): string {
  const of = (family: number) =>
    ports.flatMap(({ name, addresses }) =>
      addresses.filter((each) => isIP(each) === family).map((each) => [name, each]),
    );
  // The address that an announcement of a neighbour is about has no name in every version of nft, nor a type.
  const set = (name: string, type: string, elements: readonly (readonly (string | undefined)[])[]) => {
    const list = elements.map(([port, value]) => (value === undefined ? `"${port}"` : `"${port}" . ${value}`));
    const form = type === '' ? 'typeof iifname . @th,64,128' : `type ${type}`;
    return `  set ${name} { ${form};${list.length === 0 ? '' : ` elements = { ${list.join(', ')} }`} }`;
  };
  return `${noSenderRules(bridge)}table bridge ${senderTable(bridge)} {
${set(
  'ports',
  'ifname',
  ports.map(({ name }) => [name]),
)}
${set(
  'hardware',
  'ifname . ether_addr',
  ports.map(({ name, hardwareAddress: address }) => [name, address]),
)}
${set('four', 'ifname . ipv4_addr', of(4))}
${set('six', 'ifname . ipv6_addr', of(6))}
${set(
  'announced',
  '',
  of(6).map(([port, address]) => [port, numberOf(address)]),
)}
  chain senders {
    type filter hook prerouting priority -300; policy accept;
    iifname != @ports accept
    iifname . ether saddr != @hardware drop
    ether type ip iifname . ip saddr @four accept
    ether type arp iifname . arp saddr ether @hardware arp saddr ip 0.0.0.0 accept
    ether type arp iifname . arp saddr ether @hardware iifname . arp saddr ip @four accept
    ether type ip6 icmpv6 type { nd-router-advert, nd-redirect } drop
    ether type ip6 icmpv6 type nd-neighbor-advert @th,64,10 != 0x3fa iifname . @th,64,128 != @announced drop
    ether type ip6 ip6 saddr { ::, fe80::/10 } accept
    ether type ip6 iifname . ip6 saddr @six accept
    drop
  }
}
`;
}

function numberOf(address = ''): string {
  return `0x${(parseCidr(`${address}/128`)?.first ?? 0n).toString(16).padStart(32, '0')}`;
}
