import { Check } from './check.js';
import { Flag } from './flag.js';
import { type AddressRange, parseCidr } from './network.js';

/** The default length of node prefixes, by IP family. */
const defaultMask = { 4: 24, 6: 64 } as const;
/** A range is divided into at most 2^n ranges for nodes, with this n by IP family. */
const mostBits = { 4: 20, 6: 16 } as const;

type Family = AddressRange['family'];
type Values = Readonly<Record<string, unknown>>;

const rangesOf = (texts: unknown): AddressRange[] =>
  (texts as readonly string[]).map(parseCidr).filter((range) => range !== undefined);

function clusterRangesProblem(texts: readonly string[], all: Values): string | undefined {
  const ranges = texts.map(parseCidr);
  const known = ranges.filter((range) => range !== undefined);
  if (known.length < ranges.length) return 'must be one or two address ranges such as 10.244.0.0/16';
  const isDual = known.length === 2 && known[0]?.family !== known[1]?.family;
  if (known.length > 1 && !isDual) return 'may have one range for IPv4 and one for IPv6';
  for (const range of known) {
    if (!isDefaultMask(range.family, all)) continue;
    const problem = maskProblem(defaultMask[range.family], range);
    if (problem !== undefined) return `has no room for the ranges of nodes: /${defaultMask[range.family]} ${problem}`;
  }
  return undefined;
}

/** The problem with one range for pods, or one of each IP family with a comma between; undefined without a problem. */
export function podRangesProblem(text: string): string | undefined {
  return clusterRangesProblem(text.split(','), {});
}

function isDefaultMask(family: Family, all: Values): boolean {
  return all[`nodeMaskSizeIpv${family}`] === undefined && all.nodeMaskSize === undefined;
}

function maskProblem(mask: number, { family, prefix }: AddressRange): string | undefined {
  const bits = family === 4 ? 32 : 128;
  const most = Math.min(bits, prefix + mostBits[family]);
  return mask >= prefix && mask <= most ? undefined : `must be from ${prefix} to ${most} in this range`;
}

function generalMaskProblem(mask: number, all: Values): string | undefined {
  const ranges = rangesOf(all.clusterCidr);
  if (all.nodeMaskSizeIpv4 !== undefined || all.nodeMaskSizeIpv6 !== undefined) {
    return 'may not be given together with --node-cidr-mask-size-ipv4 or --node-cidr-mask-size-ipv6';
  }
  if (ranges.length > 1)
    return 'is for one range; with two use --node-cidr-mask-size-ipv4 and --node-cidr-mask-size-ipv6';
  const [range] = ranges;
  return range && maskProblem(mask, range);
}

function familyMaskProblem(family: Family) {
  return (mask: number, all: Values): string | undefined => {
    const ranges = rangesOf(all.clusterCidr);
    const range = ranges.find((one) => one.family === family);
    if (range !== undefined) return maskProblem(mask, range);
    if (ranges.length > 0) return `is for a range of IPv${family}, which --cluster-cidr does not have`;
    return mask >= 1 && mask <= (family === 4 ? 32 : 128) ? undefined : 'is not the length of a prefix';
  };
}

function allocateProblem(isOn: boolean, all: Values): string | undefined {
  return isOn && (all.clusterCidr as readonly string[]).length === 0 ? 'needs --cluster-cidr' : undefined;
}

/** How nodes are assigned address ranges for their pods. */
export class NodeIpamOptions {
  @Flag({
    name: 'allocate-node-cidrs',
    type: 'bool',
    usage: 'Give each node a range of addresses for its pods (control loop nodeipam).',
  })
  @Check('allocate', allocateProblem)
  readonly allocateNodeCidrs: boolean = false;

  @Flag({
    name: 'cluster-cidr',
    type: 'list',
    unit: 'cidr',
    usage:
      'Ranges from which each node gets a range for its pods: one, or one for IPv4 and one for IPv6. What overlaps ' +
      '--service-cluster-ip-range is left out.',
  })
  @Check('clusterRanges', clusterRangesProblem)
  readonly clusterCidr: readonly string[] = [];

  @Flag({
    name: 'node-cidr-mask-size',
    type: 'int',
    unit: 'bits',
    usage:
      'Prefix length of the ranges of nodes where there is one range: 24 for IPv4, 64 for IPv6 unless it is given.',
  })
  @Check('mask', generalMaskProblem)
  readonly nodeMaskSize: number | undefined = undefined;

  @Flag({
    name: 'node-cidr-mask-size-ipv4',
    type: 'int',
    unit: 'bits',
    usage: 'Prefix length of the IPv4 ranges of nodes. Default: 24.',
  })
  @Check('mask', familyMaskProblem(4))
  readonly nodeMaskSizeIpv4: number | undefined = undefined;

  @Flag({
    name: 'node-cidr-mask-size-ipv6',
    type: 'int',
    unit: 'bits',
    usage: 'Prefix length of the IPv6 ranges of nodes. Default: 64.',
  })
  @Check('mask', familyMaskProblem(6))
  readonly nodeMaskSizeIpv6: number | undefined = undefined;
}

/** A range, and the length of the prefixes of its parts, one for each node. */
export interface NodeRanges {
  readonly range: AddressRange;
  readonly mask: number;
}

/**
 * The ranges from which nodes are assigned theirs, in the order of `--cluster-cidr`; empty when nodes are assigned
 * none.
 */
export function nodeRangesOf(options: Readonly<NodeIpamOptions>): NodeRanges[] {
  if (!options.allocateNodeCidrs) return [];
  return rangesOf(options.clusterCidr).map((range) => {
    const own = range.family === 4 ? options.nodeMaskSizeIpv4 : options.nodeMaskSizeIpv6;
    return { range, mask: own ?? options.nodeMaskSize ?? defaultMask[range.family] };
  });
}
