import type { ObjectMeta } from '../../../base/machinery/api-object.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { Family } from '../rules/family.js';
import { clusterAddressesOf, type PacketProtocol } from '../rules/service-view.js';

/** A port of a container that policies can name. */
export interface NamedPort {
  readonly name: string;
  readonly protocol: PacketProtocol;
  readonly port: number;
}

/** What policies need to know of a pod. */
export interface PodView {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The node that it runs on; empty while it has none. */
  readonly node: string;
  readonly addresses: Readonly<Record<Family, readonly string[]>>;
  readonly ports: readonly NamedPort[];
}

const protocols: Readonly<Record<string, PacketProtocol>> = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' };

/** Undefined for pods without a network of their own, and for those that have ended: their addresses may belong to others. */
export function podView({ metadata, spec, status }: Pod & { metadata: ObjectMeta }): PodView | undefined {
  if (spec?.hostNetwork === true || status?.phase === 'Succeeded' || status?.phase === 'Failed') return undefined;
  const texts = (status?.podIPs ?? []).map(({ ip }) => ip ?? '');
  const all = texts.length > 0 ? texts : [status?.podIP ?? ''];
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return {
    namespace: metadata.namespace ?? '',
    labels: metadata.labels ?? {},
    node: spec?.nodeName ?? '',
    addresses: { IPv4: clusterAddressesOf(all, 'IPv4'), IPv6: clusterAddressesOf(all, 'IPv6') },
    ports: [...(spec?.containers ?? []), ...sidecars].flatMap(({ ports }) =>
      (ports ?? []).flatMap(({ name, protocol, containerPort }) => {
        const known = protocols[protocol ?? 'TCP'];
        return name && known !== undefined ? [{ name, protocol: known, port: containerPort }] : [];
      }),
    ),
  };
}
