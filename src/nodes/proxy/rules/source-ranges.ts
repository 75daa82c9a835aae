import { parseCidr } from '../../../base/config/network.js';
import type { OwnChains, PortToForward, RuleSettings } from './rule-types.js';
import { chainBase } from './sticky-chains.js';

/**
 * Writes the chain that accepts only clients in the service's source ranges. Returns its name; undefined if everybody
 * is accepted.
 */
export function addFirewall(
  { chains }: OwnChains,
  { service, port }: PortToForward,
  { family, nodeIP }: Pick<RuleSettings, 'family' | 'nodeIP'>,
): string | undefined {
  const { sourceRanges, loadBalancerIPs } = port;
  if (sourceRanges.length === 0 || loadBalancerIPs.length === 0) return undefined;
  const admitsNode = nodeIP !== undefined && sourceRanges.some((range) => contains(range, nodeIP));
  // The node's own packets to an address of the load balancer that it holds have that address as their sender.
  const senders = admitsNode ? [...sourceRanges, ...loadBalancerIPs] : sourceRanges;
  const name = `firewall-${chainBase(service, port)}`;
  const saddr = `${family === 'IPv4' ? 'ip' : 'ip6'} saddr`;
  chains.set(name, [...senders.map((sender) => `${saddr} ${sender} return`), 'drop']);
  return name;
}

function contains(range: string, address: string): boolean {
  const outer = parseCidr(range);
  const inner = parseCidr(`${address}/${outer?.prefix}`);
  return outer !== undefined && inner?.family === outer.family && inner.first === outer.first;
}
