/** Addresses of the parties, and addresses of services for clients outside. */
export const addresses = {
  node: '192.0.2.1',
  pod: '10.244.1.2',
  other: '10.244.2.2',
  client: '192.0.2.2',
  external: '203.0.113.1',
  balancer: '203.0.113.5',
  guarded: '203.0.113.6',
  localBalancer: '203.0.113.7',
} as const;

interface SampleEndpoint {
  readonly on: 'pod' | 'other' | 'node';
  readonly conditions?: object;
  readonly hints?: object;
}

export interface SampleService {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec: object;
  readonly ingress?: readonly object[];
  readonly endpoints: readonly SampleEndpoint[];
  /** Default: a TCP port. */
  readonly protocols?: readonly ('TCP' | 'UDP')[];
}

const both: readonly SampleEndpoint[] = [{ on: 'pod' }, { on: 'other' }];
const ending = { ready: false, serving: true, terminating: true };
const hinted = (hints: (on: string) => object) => both.map((each) => ({ ...each, hints: hints(each.on) }));
const nodePort = (port: number, more: object = {}) => ({ type: 'NodePort', nodePort: port, ...more });
const local = { externalTrafficPolicy: 'Local' };

/** The last number of a cluster address identifies the service. */
export const services: readonly SampleService[] = [
  { name: 'plain', spec: { clusterIP: '10.96.0.10' }, endpoints: both, protocols: ['TCP', 'UDP'] },
  { name: 'alone', spec: { clusterIP: '10.96.0.11' }, endpoints: [{ on: 'pod' }] },
  { name: 'empty', spec: { clusterIP: '10.96.0.12', ...nodePort(30012) }, endpoints: [], protocols: ['TCP', 'UDP'] },
  { name: 'ported', spec: { clusterIP: '10.96.0.13', ...nodePort(30013) }, endpoints: both, protocols: ['TCP', 'UDP'] },
  { name: 'staying', spec: { clusterIP: '10.96.0.14', ...nodePort(30014, local) }, endpoints: both },
  { name: 'elsewhere', spec: { clusterIP: '10.96.0.15', ...nodePort(30015, local) }, endpoints: [{ on: 'other' }] },
  {
    name: 'external',
    spec: { clusterIP: '10.96.0.16', externalIPs: [addresses.external] },
    endpoints: [{ on: 'other' }],
  },
  {
    name: 'balanced',
    spec: { clusterIP: '10.96.0.17', type: 'LoadBalancer', nodePort: 30017 },
    ingress: [{ ip: addresses.balancer, ipMode: 'VIP' }],
    endpoints: [{ on: 'other' }],
  },
  {
    name: 'guarded',
    spec: {
      ...{ clusterIP: '10.96.0.18', type: 'LoadBalancer', nodePort: 30018 },
      loadBalancerSourceRanges: ['192.0.2.0/24', '10.244.0.0/16', '10.244.1.0/24'],
    },
    ingress: [{ ip: addresses.guarded, ipMode: 'VIP' }],
    endpoints: [{ on: 'other' }],
  },
  {
    name: 'balanced-here',
    spec: { clusterIP: '10.96.0.19', type: 'LoadBalancer', nodePort: 30019, healthCheckNodePort: 30119, ...local },
    ingress: [{ ip: addresses.localBalancer, ipMode: 'VIP' }],
    endpoints: both,
  },
  {
    name: 'sticky',
    spec: { clusterIP: '10.96.0.20', sessionAffinity: 'ClientIP', ...nodePort(30020) },
    endpoints: both,
  },
  { name: 'inside-here', spec: { clusterIP: '10.96.0.21', internalTrafficPolicy: 'Local' }, endpoints: both },
  {
    name: 'inside-gone',
    spec: { clusterIP: '10.96.0.22', internalTrafficPolicy: 'Local' },
    endpoints: [{ on: 'other' }],
  },
  {
    name: 'zoned',
    spec: { clusterIP: '10.96.0.23' },
    endpoints: hinted((on) => ({ forZones: [{ name: on === 'pod' ? 'west' : 'east' }] })),
  },
  {
    name: 'near',
    spec: { clusterIP: '10.96.0.24' },
    endpoints: hinted((on) => ({
      forZones: [{ name: 'east' }],
      forNodes: [{ name: on === 'pod' ? 'here' : 'there' }],
    })),
  },
  {
    name: 'ending',
    spec: { clusterIP: '10.96.0.25' },
    endpoints: [{ on: 'other', conditions: ending }],
  },
  {
    name: 'half-ready',
    spec: { clusterIP: '10.96.0.26' },
    endpoints: [{ on: 'pod' }, { on: 'other', conditions: { ready: false, serving: false, terminating: false } }],
  },
  {
    name: 'half-ending',
    spec: { clusterIP: '10.96.0.27' },
    endpoints: [{ on: 'pod' }, { on: 'other', conditions: ending }],
  },
  {
    name: 'of-others',
    labels: { 'service.kubernetes.io/service-proxy-name': 'mesh' },
    spec: { clusterIP: '10.96.0.28' },
    endpoints: both,
  },
  {
    name: 'staying-ending',
    spec: { clusterIP: '10.96.0.30', ...nodePort(30030, local) },
    endpoints: [{ on: 'pod', conditions: ending }, { on: 'other' }],
  },
];
