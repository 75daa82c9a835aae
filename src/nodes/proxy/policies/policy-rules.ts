import { createHash } from 'node:crypto';
import type { Family } from '../rules/family.js';
import type { PacketProtocol } from '../rules/service-view.js';
import { mergedPorts, outermostRanges } from './nested-ranges.js';
import { PodChoice } from './pod-choice.js';
import type { PodView } from './pod-view.js';
import type { NetworkPolicyRule, PeerView, PolicyPort, PolicyView } from './policy-view.js';

export type Direction = 'ingress' | 'egress';

/** A set of the table that pods have elements in: their addresses, or these with the number of a named port. */
export interface PolicySet {
  readonly name: string;
  readonly choice: PodChoice;
  /** Undefined: addresses alone. */
  readonly port: { readonly protocol: PacketProtocol; readonly name: string } | undefined;
}

/** A chain that decides about the packets of all pods that the same policies choose: it returns for those that may pass. */
export interface PolicyChain {
  readonly rules: readonly string[];
  readonly sets: readonly PolicySet[];
}

const everyPod = new PodChoice('', {}, {});

export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** The rules of a chain. @param policies all that select the pods and have rules for the direction, in any order */
export function policyChain(policies: readonly PolicyView[], direction: Direction, family: Family): PolicyChain {
  const writer = new ChainWriter(direction, family);
  const sorted = [...policies].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const policy of sorted) for (const rule of policy[direction] ?? []) writer.add(policy, rule);
  return { rules: [...new Set(writer.rules), 'drop'], sets: [...writer.sets.values()] };
}

/** The elements of a pod in a set that chooses it. */
export function elementsOf({ port }: Pick<PolicySet, 'port'>, pod: PodView, family: Family): readonly string[] {
  const addresses = pod.addresses[family];
  if (port === undefined) return addresses;
  const own = pod.ports.filter(({ name, protocol }) => name === port.name && protocol === port.protocol);
  return addresses.flatMap((address) => own.map((each) => `${address} . ${each.protocol} . ${each.port}`));
}

class ChainWriter {
  readonly rules: string[] = [];
  readonly sets = new Map<string, PolicySet>();
  private readonly ip: string;
  /** The address of the other side. */
  private readonly peer: string;

  constructor(
    private readonly direction: Direction,
    private readonly family: Family,
  ) {
    this.ip = family === 'IPv4' ? 'ip' : 'ip6';
    this.peer = `${this.ip} ${direction === 'ingress' ? 'saddr' : 'daddr'}`;
  }

  add(policy: PolicyView, { peers, ports }: NetworkPolicyRule): void {
    const conditions = peers === undefined ? [''] : this.peerConditions(peers);
    if (ports === undefined) {
      for (const condition of conditions) this.allow(condition);
      return;
    }
    const numbers = numberCondition(ports);
    if (numbers !== undefined) for (const condition of conditions) this.allow(condition, numbers);
    for (const port of ports) {
      if (port.kind === 'named') this.addNamed(policy, peers, conditions, port);
    }
  }

  /** The name of a port means a number of the pod that the packet goes to. */
  private addNamed(
    { subjects }: PolicyView,
    peers: readonly PeerView[] | undefined,
    conditions: readonly string[],
    { protocol, name }: Extract<PolicyPort, { kind: 'named' }>,
  ): void {
    const matches = (choice: PodChoice) =>
      `${this.ip} daddr . meta l4proto . th dport @${this.setOf(choice, { protocol, name })}`;
    if (this.direction === 'ingress') {
      for (const condition of conditions) this.allow(condition, matches(subjects));
      return;
    }
    const choices = peers?.flatMap((peer) => (peer.kind === 'pods' ? [peer.choice] : [])) ?? [everyPod];
    for (const choice of choices) this.allow(matches(choice));
  }

  private peerConditions(peers: readonly PeerView[]): readonly string[] {
    const found: string[] = [];
    const plain: string[] = [];
    for (const peer of peers) {
      if (peer.kind === 'pods') found.push(`${this.peer} @${this.setOf(peer.choice, undefined)}`);
      else if (peer.except.length === 0) plain.push(peer.cidr);
      else found.push(...this.block(peer.cidr, peer.except));
    }
    const ranges = outermostRanges(plain, this.family);
    if (ranges.length > 0) found.push(this.among(ranges));
    return found;
  }

  private block(cidr: string, except: readonly string[]): readonly string[] {
    if (outermostRanges([cidr], this.family).length === 0) return [];
    const excluded = outermostRanges(except, this.family);
    const within = this.among([cidr]);
    return [excluded.length === 0 ? within : `${within} ${this.peer} != { ${excluded.join(', ')} }`.trim()];
  }

  /** No condition for a range of all addresses. */
  private among(ranges: readonly string[]): string {
    return ranges.some((range) => range.endsWith('/0')) ? '' : `${this.peer} { ${ranges.join(', ')} }`;
  }

  private setOf(choice: PodChoice, port: PolicySet['port']): string {
    const kind = port === undefined ? 'pods' : 'ports';
    const name = `${kind}-${shortHash(`${choice.text} ${port?.protocol ?? ''} ${port?.name ?? ''}`)}`;
    this.sets.set(name, { name, choice, port });
    return name;
  }

  private allow(...conditions: readonly string[]): void {
    this.rules.push([...conditions, 'return'].filter((part) => part !== '').join(' '));
  }
}

function numberCondition(ports: readonly PolicyPort[]): string | undefined {
  const byProtocol = new Map<PacketProtocol, { first: number; last: number }[]>();
  for (const port of ports) {
    if (port.kind !== 'range') continue;
    byProtocol.set(port.protocol, [...(byProtocol.get(port.protocol) ?? []), port]);
  }
  const texts = [...byProtocol].flatMap(([protocol, ranges]) =>
    mergedPorts(ranges).map(({ first, last }) => `${protocol} . ${first === last ? first : `${first}-${last}`}`),
  );
  return texts.length === 0 ? undefined : `meta l4proto . th dport { ${texts.join(', ')} }`;
}
