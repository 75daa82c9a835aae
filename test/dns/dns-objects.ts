const port = (name: string, number: number, protocol = 'TCP') => ({
  ...(name === '' ? {} : { name }),
  port: number,
  protocol,
});
const web = [port('http', 80), port('dns', 53, 'UDP')];
const label = 'kubernetes.io/service-name';
const ready = { ready: true };

export interface SampleSlice {
  readonly service: string;
  readonly addressType?: string;
  readonly endpoints: readonly object[];
  readonly ports: readonly object[];
}

/** The specs of the services of the check, by their names. */
export const dnsServices: Readonly<Record<string, object>> = {
  web: {
    ipFamilyPolicy: 'RequireDualStack',
    clusterIP: '10.96.0.7',
    clusterIPs: ['10.96.0.7', 'fd00:96::7'],
    ports: web,
  },
  four: { clusterIP: '10.96.0.8', ports: web },
  manyports: { clusterIP: '10.96.0.9', ports: Array.from({ length: 5 }, (_, i) => port(`p${i}`, 1000 + i)) },
  db: { clusterIP: 'None', selector: { app: 'db' }, ipFamilyPolicy: 'PreferDualStack', ports: [port('pg', 5432)] },
  waiting: { clusterIP: 'None', selector: { app: 'none' }, ports: [port('pg', 5432)] },
  early: { clusterIP: 'None', selector: { app: 'early' }, publishNotReadyAddresses: true, ports: [port('pg', 5432)] },
  portless: { clusterIP: 'None', selector: { app: 'portless' } },
  large: { clusterIP: 'None', selector: { app: 'large' }, ports: [port('http', 80)] },
  outside: { type: 'ExternalName', externalName: 'www.example.com' },
  inside: { type: 'ExternalName', externalName: 'web.default.svc.cluster.local' },
  chain: { type: 'ExternalName', externalName: 'inside.default.svc.cluster.local' },
  round: { type: 'ExternalName', externalName: 'round.default.svc.cluster.local' },
  gone: { type: 'ExternalName', externalName: 'nothing.example.com' },
  missing: { type: 'ExternalName', externalName: 'nothing.default.svc.cluster.local' },
  number: { type: 'ExternalName', externalName: '192.0.2.1' },
};

const pg = [{ name: 'pg', port: 5432, protocol: 'TCP' }];

export const dnsSlices: readonly SampleSlice[] = [
  {
    service: 'web',
    endpoints: [{ addresses: ['10.244.0.3'], conditions: ready }],
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  },
  {
    service: 'db',
    endpoints: [
      { addresses: ['10.244.0.4'], hostname: 'db-0', conditions: ready },
      { addresses: ['10.244.1.4'], hostname: 'db-1', conditions: ready },
      { addresses: ['10.244.1.5'], conditions: ready },
      { addresses: ['10.244.1.6'], hostname: 'db-3', conditions: { ready: false } },
    ],
    ports: pg,
  },
  {
    service: 'db',
    addressType: 'IPv6',
    endpoints: [{ addresses: ['fd00::4'], hostname: 'db-0', conditions: ready }],
    ports: pg,
  },
  // The loop of slices makes those that are not ready ready where a service publishes them.
  {
    service: 'early',
    endpoints: [{ addresses: ['10.244.0.8'], conditions: { ready: true, serving: false } }],
    ports: pg,
  },
  { service: 'portless', endpoints: [{ addresses: ['10.244.0.9'], conditions: ready }], ports: [] },
  {
    service: 'large',
    endpoints: Array.from({ length: 90 }, (_, i) => ({ addresses: [`10.244.3.${i + 1}`], conditions: ready })),
    ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
  },
];

/** A slice as it is sent to be created. */
export function sliceBody({ service, addressType = 'IPv4', endpoints, ports }: SampleSlice): object {
  return {
    ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType, endpoints, ports },
    metadata: { name: `${service}-${addressType.toLowerCase()}`, labels: { [label]: service } },
  };
}
