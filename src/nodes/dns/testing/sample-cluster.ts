import type { Service } from '../../../objects/apis/core/v1/service.types.js';
import type { EndpointSlice } from '../../../objects/apis/discovery/v1/endpoint-slice.types.js';
import { ClusterNames } from '../records/cluster-names.js';

export const serviceLabel = 'kubernetes.io/service-name';
let uids = 0;

const meta = (name: string, namespace = 'default', labels = {}) => ({ name, namespace, labels, uid: `uid-${++uids}` });

export function serviceObject(name: string, spec: object, namespace?: string) {
  return { metadata: meta(name, namespace), spec } as unknown as Parameters<ClusterNames['putService']>[0];
}

export function sliceObject(
  service: string,
  endpoints: readonly object[],
  ports: readonly object[],
  addressType = 'IPv4',
  namespace?: string,
) {
  const labels = { [serviceLabel]: service };
  const name = `${service}-${uids}`;
  return { metadata: meta(name, namespace, labels), addressType, endpoints, ports } as unknown as EndpointSlice & {
    metadata: { uid: string };
  };
}

const web = [{ name: 'http', protocol: 'TCP', port: 8080 }];
const two = { ready: true };

/** A cluster with services of every kind, for tests. */
export function sampleDnsCluster(): ClusterNames {
  const names = new ClusterNames(serviceLabel);
  for (const name of ['default', 'kube-system', 'empty']) {
    names.putNamespace({ metadata: meta(name, '') } as unknown as Parameters<ClusterNames['putNamespace']>[0]);
  }
  const clusterIPs = (...all: string[]): Partial<Service['spec']> => ({ clusterIP: all[0] ?? '', clusterIPs: all });
  const ports = [
    { name: 'http', protocol: 'TCP', port: 80 },
    { name: 'dns', protocol: 'UDP', port: 53 },
    { name: '', protocol: 'TCP', port: 99 },
  ];
  names.putService(serviceObject('web', { ...clusterIPs('10.96.0.7', 'fd00:96::7'), ports }));
  names.putSlice(sliceObject('web', [{ addresses: ['10.244.0.3'], conditions: two }], web));
  names.putService(serviceObject('kube-dns', { ...clusterIPs('10.96.0.10'), ports }, 'kube-system'));
  names.putService(serviceObject('db', { ...clusterIPs('None'), ports: web }));
  names.putSlice(
    sliceObject(
      'db',
      [
        { addresses: ['10.244.0.4'], hostname: 'db-0', conditions: two },
        { addresses: ['10.244.1.4'], hostname: 'db-1', conditions: {} },
        { addresses: ['10.244.1.5'], conditions: two },
        { addresses: ['10.244.1.6'], hostname: 'db-3', conditions: { ready: false } },
      ],
      web,
    ),
  );
  names.putSlice(sliceObject('db', [{ addresses: ['fd00:0:0::4'], hostname: 'db-0' }], web, 'IPv6'));
  names.putService(serviceObject('waiting', { ...clusterIPs('None'), ports: web }));
  names.putService(serviceObject('portless', { ...clusterIPs('None') }));
  names.putSlice(sliceObject('portless', [{ addresses: ['10.244.0.9'] }], []));
  names.putService(serviceObject('outside', { type: 'ExternalName', externalName: 'www.example.com.' }));
  names.putService(serviceObject('inside', { type: 'ExternalName', externalName: 'web.default.svc.cluster.local' }));
  names.putService(serviceObject('round', { type: 'ExternalName', externalName: 'round.default.svc.cluster.local' }));
  names.putService(serviceObject('number', { type: 'ExternalName', externalName: '192.0.2.1' }));
  return names;
}
