import { createHash } from 'node:crypto';
import type { Target } from './endpoint-view.js';
import type { Family } from './family.js';
import { markRule } from './mark-rule.js';
import type { OwnChains, PortToForward, RuleSettings } from './rule-types.js';
import type { ServicePortView } from './service-view.js';

/** Prefix of the names of sets that remember clients. */
export const affinityPrefix = 'affinity-';

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** The suffix of the names of one port's chains. Its hash makes names that differ in one digit look different. */
export function chainBase(service: string, { protocol, name }: Pick<ServicePortView, 'protocol' | 'name'>): string {
  const text = `${service}/${protocol}/${name}`;
  return `${hashOf(text)}-${text}`;
}

/**
 * Chains of a port with session affinity: one for each endpoint, which records the client in a set of its own, and one
 * for each policy, which looks up the client in those sets before it draws an endpoint.
 */
export function addStickyChains(
  { chains, affinitySets }: OwnChains,
  base: string,
  { port, targets: { anywhere, here } }: PortToForward,
  settings: RuleSettings,
): void {
  const { family } = settings;
  const saddr = `${family === 'IPv4' ? 'ip' : 'ip6'} saddr`;
  // The time limit of a set can't change, so it is part of the name.
  const setName = (target: string) => `${affinityPrefix}${port.affinitySeconds}-${target}`;
  for (const target of new Set([...anywhere, ...here])) {
    const name = targetName(base, target);
    affinitySets.set(setName(name), port.affinitySeconds);
    chains.set(`endpoint-${name}`, [
      `update @${setName(name)} { ${saddr} }`,
      `meta l4proto ${port.protocol} dnat to ${addressText(target, family)}`,
    ]);
  }
  const choose = (targets: readonly Target[]): string[] => [
    ...targets.map((target) => {
      const name = targetName(base, target);
      return `${saddr} @${setName(name)} goto endpoint-${name}`;
    }),
    `numgen random mod ${targets.length} vmap { ${targets
      .map((target, index) => `${index} : goto endpoint-${targetName(base, target)}`)
      .join(', ')} }`,
  ];
  if (anywhere.length > 0) {
    chains.set(`service-${base}`, choose(anywhere));
    chains.set(`external-${base}`, [markRule(settings), `goto service-${base}`]);
  }
  if (here.length > 0) chains.set(`local-${base}`, choose(here));
}

function targetName(base: string, { address, port }: Target): string {
  return `${hashOf(`${base} ${address} ${port}`)}-${address.replaceAll(':', '.')}/${port}`;
}

function addressText({ address, port }: Target, family: Family): string {
  return family === 'IPv4' ? `${address}:${port}` : `[${address}]:${port}`;
}
