import type { Target } from './endpoint-view.js';
import {
  type Element,
  insideOffset,
  type OwnChains,
  type PortToForward,
  type RuleSettings,
  type ServiceRules,
  type SetName,
} from './rule-types.js';
import type { ServicePortView } from './service-view.js';
import { addFirewall } from './source-ranges.js';
import { addStickyChains, chainBase } from './sticky-chains.js';
import { isExternal, type UsableTargets } from './usable-targets.js';

/** The rules of all ports of one service. */
export function serviceRules(ports: readonly PortToForward[], settings: RuleSettings): ServiceRules {
  const writer = new RuleWriter(settings);
  for (const each of ports) writer.addPort(each);
  return writer.rules;
}

/** The parts of names for the two kinds of frontends: an address with a port, and a node port. */
const names = {
  address: {
    entry: 'service-ips',
    inside: 'inside-ips',
    local: 'local-ips',
    none: 'no-endpoint-services',
    prefix: '',
  },
  nodePort: {
    entry: 'service-nodeports',
    inside: 'inside-nodeports',
    local: 'local-nodeports',
    none: 'no-endpoint-nodeports',
    prefix: 'nodeport-',
  },
} as const;

type Form = keyof typeof names;

/**
 * The destination is chosen in two steps that cost the same for any number of services: the frontend is looked up and
 * leads to a chain that all services with the same number of endpoints share; that chain draws a number and looks up
 * the endpoint with it. Only services with session affinity have chains of their own.
 */
class RuleWriter {
  private readonly elements: Element[] = [];
  private readonly own: OwnChains = { chains: new Map(), affinitySets: new Map() };
  private readonly withoutLocal = { internal: 0, external: 0 };

  constructor(private readonly settings: RuleSettings) {}

  get rules(): ServiceRules {
    return { elements: this.elements, ...this.own, withoutLocal: this.withoutLocal };
  }

  addPort(each: PortToForward): void {
    const { service, port, targets } = each;
    const base = port.affinitySeconds > 0 ? chainBase(service, port) : undefined;
    if (base !== undefined) addStickyChains(this.own, base, each, this.settings);
    this.addHairpins(port, targets);
    this.addClusterAddress(base, port, targets);
    if (!isExternal(port)) return;
    if (targets.exist && port.isExternalLocal && targets.here.length === 0) this.withoutLocal.external += 1;
    for (const address of new Set([...port.externalIPs, ...port.loadBalancerIPs])) {
      this.addExternal('address', `${address} . ${port.protocol} . ${port.port}`, base, each);
    }
    if (port.nodePort !== 0) this.addExternal('nodePort', `${port.protocol} . ${port.nodePort}`, base, each);
    const firewall = addFirewall(this.own, each, this.settings);
    if (firewall === undefined) return;
    for (const address of port.loadBalancerIPs) {
      this.add('firewall-ips', `${address} . ${port.protocol} . ${port.port}`, `goto ${firewall}`);
    }
  }

  private add(set: SetName, key: string, value = ''): void {
    this.elements.push({ set, key, value });
  }

  private addTargets(
    form: Form,
    { protocol }: ServicePortView,
    key: string,
    targets: readonly Target[],
    offset = 0,
  ): void {
    const set = `${names[form].prefix}endpoints-${protocol}` as const;
    targets.forEach(({ address, port }, index) => {
      this.add(set, `${key} . ${offset + index}`, `${address} . ${port}`);
    });
  }

  private addClusterAddress(
    base: string | undefined,
    port: ServicePortView,
    { anywhere, here, exist }: UsableTargets,
  ): void {
    const key = `${port.clusterIP} . ${port.protocol} . ${port.port}`;
    const found = port.isInternalLocal ? here : anywhere;
    this.add('cluster-ips', port.clusterIP);
    if (found.length === 0) {
      this.add('no-endpoint-services', key, exist ? 'drop' : 'goto reject-all');
      if (exist) this.withoutLocal.internal += 1;
      return;
    }
    const own = `${port.isInternalLocal ? 'local' : 'service'}-${base}`;
    this.add('service-ips', key, `goto ${base === undefined ? `pick-${found.length}` : own}`);
    if (base === undefined) this.addTargets('address', port, key, found);
  }

  /** A frontend for packets from outside. */
  private addExternal(form: Form, key: string, base: string | undefined, { port, targets }: PortToForward): void {
    const { anywhere, here, exist } = targets;
    const { entry, inside, local, none, prefix } = names[form];
    if (!exist) {
      this.add(none, key, 'goto reject-all');
      return;
    }
    if (!port.isExternalLocal) {
      const shared = `${prefix}external-pick-${anywhere.length}`;
      this.add(entry, key, `goto ${base === undefined ? shared : `external-${base}`}`);
      if (base === undefined) this.addTargets(form, port, key, anywhere);
      return;
    }
    this.add(entry, key, `goto ${prefix}outside-local`);
    const shared = `${prefix}inside-pick-${anywhere.length}`;
    this.add(inside, key, `goto ${base === undefined ? shared : `service-${base}`}`);
    if (base === undefined) this.addTargets(form, port, key, anywhere, insideOffset);
    if (here.length === 0) {
      this.add(none, key, 'drop');
      return;
    }
    this.add(local, key, `goto ${base === undefined ? `${prefix}pick-${here.length}` : `local-${base}`}`);
    if (base === undefined) this.addTargets(form, port, key, here);
  }

  /**
   * A pod that reaches itself through a service would see its own address as the sender, and never get its own
   * response.
   */
  private addHairpins({ protocol }: ServicePortView, { anywhere, here }: UsableTargets): void {
    for (const { address, port, node } of new Set([...anywhere, ...here])) {
      if (node !== this.settings.nodeName) continue;
      this.add('hairpin-connections', `${address} . ${address} . ${protocol} . ${port}`);
    }
  }
}
