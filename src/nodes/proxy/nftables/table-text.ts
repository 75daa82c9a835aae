import type { Family } from '../rules/family.js';
import { hexMark, markRule } from '../rules/mark-rule.js';
import type { SetName } from '../rules/rule-types.js';
import type { PacketProtocol } from '../rules/service-view.js';
import type { TableSettings } from './table-settings.js';

/** The name of the table in each family. */
export const tableName = 'plinth-proxy';

/** The bit that marks packets to drop (specification 8: drop bit 15). */
const dropMark = '0x00008000';
const protocols: readonly PacketProtocol[] = ['tcp', 'udp', 'sctp'];

/** The family as nftables names it. */
export function nftFamily(family: Family): 'ip' | 'ip6' {
  return family === 'IPv4' ? 'ip' : 'ip6';
}

/** Sets and maps with elements of services, and their declarations. */
export function setDeclarations(family: Family): Readonly<Record<SetName, { kind: 'set' | 'map'; text: string }>> {
  const ip = nftFamily(family);
  const address = family === 'IPv4' ? 'ipv4_addr' : 'ipv6_addr';
  const verdicts = { kind: 'map', text: `type ${address} . inet_proto . inet_service : verdict` } as const;
  const portVerdicts = { kind: 'map', text: 'type inet_proto . inet_service : verdict' } as const;
  // A number in place of a random one: only its width matters.
  const drawn = 'numgen random mod 2';
  // The type names one protocol: nft refuses later rules that look up a port of any protocol (`th dport`) in a map that the kernel
  // already has.
  const endpoints = (key: string) => (protocol: PacketProtocol) =>
    ({
      kind: 'map',
      text: `typeof ${key}meta l4proto . th dport . ${drawn} : ${ip} daddr . ${protocol} dport`,
    }) as const;
  const ofAddress = endpoints(`${ip} daddr . `);
  const ofNodePort = endpoints('');
  return {
    'cluster-ips': { kind: 'set', text: `type ${address}` },
    'hairpin-connections': { kind: 'set', text: `type ${address} . ${address} . inet_proto . inet_service` },
    'service-ips': verdicts,
    'service-nodeports': portVerdicts,
    'inside-ips': verdicts,
    'inside-nodeports': portVerdicts,
    'local-ips': verdicts,
    'local-nodeports': portVerdicts,
    'endpoints-tcp': ofAddress('tcp'),
    'endpoints-udp': ofAddress('udp'),
    'endpoints-sctp': ofAddress('sctp'),
    'nodeport-endpoints-tcp': ofNodePort('tcp'),
    'nodeport-endpoints-udp': ofNodePort('udp'),
    'nodeport-endpoints-sctp': ofNodePort('sctp'),
    'no-endpoint-services': verdicts,
    'no-endpoint-nodeports': portVerdicts,
    'firewall-ips': verdicts,
  };
}

const baseChains: Readonly<Record<string, string>> = {
  // Before the destination is replaced: load balancers' source ranges apply to the address that the client used.
  'filter-prerouting-pre-dnat': 'type filter hook prerouting priority -110',
  'filter-output-pre-dnat': 'type filter hook output priority -110',
  'filter-input': 'type filter hook input priority 0',
  'filter-forward': 'type filter hook forward priority 0',
  'filter-output': 'type filter hook output priority 0',
  'nat-prerouting': 'type nat hook prerouting priority -100',
  'nat-output': 'type nat hook output priority -100',
  'nat-postrouting': 'type nat hook postrouting priority 100',
};

/** Chains that are the same for all services, with their rules, in an order in which they can be written. */
export function fixedChains(settings: TableSettings): ReadonlyMap<string, readonly string[]> {
  const ip = nftFamily(settings.family);
  const address = `${ip} daddr . meta l4proto . th dport`;
  const port = 'meta l4proto . th dport';
  const mark = markRule(settings);
  const masquerade = hexMark(settings.masqueradeMark);
  const { pods, nodePortAddresses, serviceCidrs } = settings;
  const notLoopback = ip === 'ip' ? 'ip daddr != 127.0.0.0/8' : 'ip6 daddr != ::1';
  const isNodePort =
    nodePortAddresses === undefined
      ? `fib daddr type local ${notLoopback}`
      : `${ip} daddr { ${[...nodePortAddresses].join(', ')} }`;
  const hasNodePorts = nodePortAddresses === undefined || nodePortAddresses.length > 0;
  const ifNodePort = (rule: string) => (hasNodePorts ? [`${isNodePort} ${rule}`] : []);
  const masqueraded = settings.masqueradesAll ? '' : pods && `${pods.isNoPod} `;
  const outside = (key: string, inside: SetName, local: SetName) => [
    ...(pods === undefined ? [] : [`${pods.isPod} ${key} vmap @${inside}`]),
    // If the node holds an address of the load balancer, the node's own packets to it have that address as their
    // sender.
    `fib saddr type local ${mark}`,
    `fib saddr type local ${key} vmap @${inside}`,
    `${key} vmap @${local}`,
  ];
  const drop = `meta mark and ${dropMark} != 0 drop`;
  return new Map([
    ['reject-all', ['reject']],
    ['outside-local', outside(address, 'inside-ips', 'local-ips')],
    ['nodeport-outside-local', outside(port, 'inside-nodeports', 'local-nodeports')],
    [
      'services',
      [
        ...(masqueraded === undefined ? [] : [`${ip} daddr @cluster-ips ${masqueraded}${mark}`]),
        `${address} vmap @service-ips`,
        ...ifNodePort(`${port} vmap @service-nodeports`),
      ],
    ],
    ['service-endpoints-check', [`${address} vmap @no-endpoint-services`]],
    ['nodeport-endpoints-check', ifNodePort(`${port} vmap @no-endpoint-nodeports`)],
    [
      'cluster-ips-check',
      [
        `${ip} daddr @cluster-ips reject`,
        ...(serviceCidrs.length === 0 ? [] : [`${ip} daddr { ${serviceCidrs.join(', ')} } drop`]),
      ],
    ],
    ['firewall-check', [`${address} vmap @firewall-ips`]],
    [
      'masquerading',
      [
        `meta mark and ${masquerade} != 0 meta mark set meta mark xor ${masquerade} masquerade fully-random`,
        `ct status dnat ${ip} saddr . ${ip} daddr . meta l4proto . th dport @hairpin-connections masquerade fully-random`,
      ],
    ],
    ['filter-prerouting-pre-dnat', ['ct state new jump firewall-check']],
    ['filter-output-pre-dnat', ['ct state new jump firewall-check']],
    ['filter-input', [drop, 'ct state new jump nodeport-endpoints-check', 'ct state new jump service-endpoints-check']],
    ['filter-forward', [drop, 'ct state new jump service-endpoints-check', 'ct state new jump cluster-ips-check']],
    ['filter-output', [drop, 'ct state new jump service-endpoints-check', 'ct state new jump cluster-ips-check']],
    ['nat-prerouting', ['jump services']],
    ['nat-output', ['jump services']],
    ['nat-postrouting', ['jump masquerading']],
  ]);
}

/** The declaration of a base chain; undefined for all other chains. */
export function hookOf(chain: string): string | undefined {
  return baseChains[chain];
}

/**
 * The rules of a chain that all frontends with the same number of endpoints share, by its name: `pick-3`,
 * `external-pick-3`, `nodeport-inside-pick-3`. Undefined for other names.
 */
export function pickRules(name: string, settings: Pick<TableSettings, 'family' | 'masqueradeMark'>, offset: number) {
  const match = /^(nodeport-)?(external-|inside-)?pick-(\d+)$/.exec(name);
  if (match === null) return undefined;
  const [, nodePort, kind, count] = match;
  const ip = nftFamily(settings.family);
  const key = `${nodePort === undefined ? `${ip} daddr . ` : ''}meta l4proto . th dport`;
  const number = `numgen random mod ${count}${kind === 'inside-' ? ` offset ${offset}` : ''}`;
  const map = `${nodePort ?? ''}endpoints`;
  // The type of the map makes nft compare the protocol first.
  const dnat = protocols.map((protocol) => `dnat ${ip} to ${key} . ${number} map @${map}-${protocol}`);
  return kind === 'external-' ? [markRule(settings), ...dnat] : dnat;
}
