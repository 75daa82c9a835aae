import { type AddressRange, addressAt, parseCidr } from '../../../base/config/network.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import { ownNodeAddress } from '../own-addresses.js';
import type { Family } from '../rules/family.js';

/** The route to the pods of another node. */
export interface NodeRoute {
  readonly node: string;
  readonly family: Family;
  /** The range of the node's pods, in canonical form: `10.244.1.0/24`. */
  readonly range: string;
  /** The address of the node. */
  readonly gateway: string;
}

/**
 * The routes to the pods of all other nodes: the range of a node by the address of the node. A range counts only if it is
 * inside of a range of the cluster and overlaps neither those of this node nor that of an older node: otherwise a node could
 * draw packets to itself that are for others.
 *
 * @param ownName the node that the routes are for
 * @param clusterRanges all addresses of pods, at most one range of each family
 */
export function nodeRoutes(
  nodes: Iterable<Node>,
  ownName: string,
  clusterRanges: readonly string[],
  families: readonly Family[],
): readonly NodeRoute[] {
  const cluster = clusterRanges.flatMap((text) => parseCidr(text) ?? []);
  const all = [...nodes].sort((one, other) => compareAge(one, other, ownName));
  const taken: AddressRange[] = [];
  const routes: NodeRoute[] = [];
  for (const node of all) {
    const { name = '' } = node.metadata;
    for (const range of rangesOf(node)) {
      if (!cluster.some((outer) => isInside(range, outer)) || taken.some((other) => overlaps(range, other))) continue;
      taken.push(range);
      const family: Family = range.family === 4 ? 'IPv4' : 'IPv6';
      const gateway = ownNodeAddress(node, family);
      if (name === ownName || gateway === undefined || !families.includes(family)) continue;
      routes.push({ node: name, family, range: `${addressAt(range, 0n)}/${range.prefix}`, gateway });
    }
  }
  return routes;
}

function rangesOf({ spec }: Node): readonly AddressRange[] {
  const texts = (spec?.podCIDRs ?? []).length > 0 ? spec?.podCIDRs : [spec?.podCIDR ?? ''];
  return (texts ?? []).flatMap((text) => parseCidr(text) ?? []);
}

/** This node first, then the others by age. */
function compareAge({ metadata: one }: Node, { metadata: other }: Node, ownName: string): number {
  const key = ({ name = '', creationTimestamp = '' }: Node['metadata']) =>
    `${name === ownName ? 0 : 1} ${creationTimestamp} ${name}`;
  const [left, right] = [key(one), key(other)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function isInside(inner: AddressRange, outer: AddressRange): boolean {
  return inner.prefix >= outer.prefix && overlaps(inner, outer);
}

function overlaps(one: AddressRange, other: AddressRange): boolean {
  if (one.family !== other.family) return false;
  const host = BigInt((one.family === 4 ? 32 : 128) - Math.min(one.prefix, other.prefix));
  return one.first >> host === other.first >> host;
}
