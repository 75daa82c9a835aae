import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { machinePace } from '../../../../test/support/processor-time.js';
import { sampleDnsCluster, serviceObject, sliceObject } from '../testing/sample-cluster.js';
import { recordTypes } from '../wire/codes.js';
import { clusterAnswer, type PodMode } from './cluster-answer.js';

const settings = { domain: 'cluster.local', ttl: 5, ownService: 'kube-system/kube-dns' };
const names = sampleDnsCluster();

/** A response in short form: its code and records, or the alias's target. */
function ask(
  name: string,
  type: keyof typeof recordTypes | number,
  podMode: PodMode = 'insecure',
  from = names,
): string[] {
  const number = typeof type === 'number' ? type : recordTypes[type];
  const found = clusterAnswer({ labels: name.split('.'), type: number }, from, { ...settings, podMode }, 7);
  if (found.kind === 'elsewhere') return ['elsewhere'];
  if (found.kind === 'alias') return [`alias ${found.target}`];
  const { code, answers, authorities, additionals } = found.answer;
  const text = (data: unknown) =>
    typeof data === 'string' ? data : Object.values(data as Record<string, unknown>).join(' ');
  return [
    ...(code === 'NOERROR' ? [] : [code]),
    ...answers.map(({ type: kind, data }) => `${kind} ${text(data)}`),
    ...authorities.map(({ type: kind }) => kind),
    ...additionals.map(({ name: owner, type: kind, data }) => `+${owner} ${kind} ${text(data)}`),
  ];
}

const none = ['NXDOMAIN', 'SOA'];
const empty = ['SOA'];
const svc = (name: string) => `${name}.default.svc.cluster.local`;

const cases: readonly [string, keyof typeof recordTypes | number, readonly string[]][] = [
  ['dns-version.cluster.local', 'TXT', ['TXT 1.1.0']],
  ['dns-version.cluster.local', 'A', empty],
  ['cluster.local', 'SOA', ['SOA ns.dns.cluster.local hostmaster.cluster.local 7 7200 1800 86400 5']],
  ['cluster.local', 'NS', ['NS ns.dns.cluster.local', '+ns.dns.cluster.local A 10.96.0.10']],
  ['cluster.local', 'A', empty],
  ['ns.dns.cluster.local', 'A', ['A 10.96.0.10']],
  ['other.dns.cluster.local', 'A', none],
  ['nothing.cluster.local', 'A', none],
  ['svc.cluster.local', 'A', empty],
  ['default.svc.cluster.local', 'A', empty],
  ['empty.svc.cluster.local', 'A', empty],
  ['missing.svc.cluster.local', 'A', none],
  [svc('web'), 'A', ['A 10.96.0.7']],
  [svc('web'), 'AAAA', ['AAAA fd00:96::7']],
  [svc('web'), 'TXT', empty],
  [svc('web'), 255, empty],
  [svc('gone'), 'A', none],
  ['web.missing.svc.cluster.local', 'A', none],
  [
    svc('_http._tcp.web'),
    'SRV',
    ['SRV 0 100 80 web.default.svc.cluster.local', `+${svc('web')} A 10.96.0.7`, `+${svc('web')} AAAA fd00:96::7`],
  ],
  [svc('_http._udp.web'), 'SRV', none],
  [svc('_https._tcp.web'), 'SRV', none],
  [svc('_http._tcp.web'), 'A', empty],
  [svc('_tcp.web'), 'SRV', empty],
  [svc('_sctp.web'), 'SRV', none],
  [svc('a._http._tcp.web'), 'SRV', none],
  [svc('http.tcp.web'), 'SRV', none],
  [svc('10-244-0-3.web'), 'A', ['A 10.244.0.3']],
  [svc('10-244-0-9.web'), 'A', none],
  [svc('db'), 'A', ['A 10.244.0.4', 'A 10.244.1.4', 'A 10.244.1.5']],
  [svc('db'), 'AAAA', ['AAAA fd00::4']],
  [svc('db-0.db'), 'A', ['A 10.244.0.4']],
  [svc('db-0.db'), 'AAAA', ['AAAA fd00::4']],
  [svc('db-1.db'), 'AAAA', empty],
  [svc('db-3.db'), 'A', none],
  [svc('10-244-1-5.db'), 'A', ['A 10.244.1.5']],
  [
    svc('_http._tcp.db'),
    'SRV',
    [
      `SRV 0 33 8080 ${svc('db-0.db')}`,
      `SRV 0 33 8080 ${svc('db-1.db')}`,
      `SRV 0 33 8080 ${svc('10-244-1-5.db')}`,
      `+${svc('db-0.db')} A 10.244.0.4`,
      `+${svc('db-0.db')} AAAA fd00::4`,
      `+${svc('db-1.db')} A 10.244.1.4`,
      `+${svc('10-244-1-5.db')} A 10.244.1.5`,
    ],
  ],
  [svc('db-1.db'), 'SRV', [`SRV 0 100 8080 ${svc('db-1.db')}`, `+${svc('db-1.db')} A 10.244.1.4`]],
  [svc('waiting'), 'A', none],
  [svc('portless'), 'A', ['A 10.244.0.9']],
  [svc('portless'), 'SRV', empty],
  [svc('outside'), 'A', ['alias www.example.com']],
  [svc('outside'), 'CNAME', ['CNAME www.example.com']],
  [svc('x.outside'), 'A', none],
  [svc('number'), 'A', none],
  ['10-1-2-3.default.pod.cluster.local', 'A', ['A 10.1.2.3']],
  ['fd00--7.default.pod.cluster.local', 'AAAA', ['AAAA fd00::7']],
  ['10-1-2-3.default.pod.cluster.local', 'AAAA', empty],
  ['10-1-2-3.missing.pod.cluster.local', 'A', none],
  ['10-1-2-300.default.pod.cluster.local', 'A', none],
  ['x.10-1-2-3.default.pod.cluster.local', 'A', none],
  ['default.pod.cluster.local', 'A', empty],
  ['pod.cluster.local', 'A', empty],
  ['7.0.96.10.in-addr.arpa', 'PTR', [`PTR ${svc('web')}`]],
  ['4.0.244.10.in-addr.arpa', 'PTR', [`PTR ${svc('db-0.db')}`]],
  ['5.1.244.10.in-addr.arpa', 'PTR', [`PTR ${svc('10-244-1-5.db')}`]],
  ['3.0.244.10.in-addr.arpa', 'PTR', ['elsewhere']],
  ['6.1.244.10.in-addr.arpa', 'PTR', ['elsewhere']],
  ['7.0.96.10.in-addr.arpa', 'A', ['elsewhere']],
  ['0.96.10.in-addr.arpa', 'PTR', ['elsewhere']],
  [`${'7.0.0.0.'.concat('0.0.0.0.'.repeat(5))}6.9.0.0.0.0.d.f.ip6.arpa`, 'PTR', [`PTR ${svc('web')}`]],
  ['www.example.com', 'A', ['elsewhere']],
  ['local', 'A', ['elsewhere']],
  ['notcluster.local', 'A', ['elsewhere']],
];

describe('answers from the objects of a cluster', () => {
  for (const [name, type, wanted] of cases) {
    it(`${name} ${type}`, () => assert.deepEqual(ask(name, type), wanted));
  }

  it('knows pods if it follows them, and none if names of pods are off', () => {
    const own = sampleDnsCluster();
    const pod = { metadata: { uid: 'p', namespace: 'default' }, status: { podIPs: [{ ip: '10.1.2.3' }] } };
    const name = '10-1-2-3.default.pod.cluster.local';
    assert.deepEqual(ask(name, 'A', 'verified', own), none);
    own.putPod(pod as unknown as Parameters<typeof own.putPod>[0]);
    assert.deepEqual(ask(name, 'A', 'verified', own), ['A 10.1.2.3']);
    assert.deepEqual(ask(name, 'A', 'disabled', own), none);
    own.removePod('p');
    assert.deepEqual(ask(name, 'A', 'verified', own), none);
  });

  it('follows changes of services and slices', () => {
    const own = sampleDnsCluster();
    const service = serviceObject('new', { clusterIP: 'None', clusterIPs: ['None'] });
    const slice = sliceObject('new', [{ addresses: ['10.9.0.1'], hostname: 'a' }], []);
    own.putSlice(slice);
    assert.deepEqual(ask(svc('new'), 'A', 'insecure', own), none);
    own.putService(service);
    assert.deepEqual(ask(svc('new'), 'A', 'insecure', own), ['A 10.9.0.1']);
    own.putSlice({ ...slice, endpoints: [{ addresses: ['10.9.0.2'], hostname: 'a' }] } as unknown as typeof slice);
    assert.deepEqual(ask(svc('a.new'), 'A', 'insecure', own), ['A 10.9.0.2']);
    assert.deepEqual(ask('1.0.9.10.in-addr.arpa', 'PTR', 'insecure', own), ['elsewhere']);
    own.putService({ ...service, spec: { ...service.spec, clusterIP: '10.96.0.77', clusterIPs: ['10.96.0.77'] } });
    assert.deepEqual(ask(svc('new'), 'A', 'insecure', own), ['A 10.96.0.77']);
    assert.deepEqual(ask('77.0.96.10.in-addr.arpa', 'PTR', 'insecure', own), [`PTR ${svc('new')}`]);
    own.removeService(service.metadata.uid ?? '');
    own.removeSlice(slice.metadata.uid);
    assert.deepEqual(ask(svc('new'), 'A', 'insecure', own), none);
    assert.deepEqual(ask('77.0.96.10.in-addr.arpa', 'PTR', 'insecure', own), ['elsewhere']);
  });
});

describe('questions about services of thousands of parts', () => {
  const spent = (work: () => void): number => {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  };
  const portList = Array.from({ length: 2000 }, (_, n) => ({ name: `p${n}`, protocol: 'TCP', port: n + 1 }));
  const addresses = (count: number, first = 0) =>
    Array.from({ length: count }, (_, n) => ({ addresses: [`10.9.${(first + n) >> 8}.${(first + n) & 255}`] }));
  const headless = { clusterIP: 'None', clusterIPs: ['None'] };

  it('take no more time than an answer can have records', () => {
    const own = sampleDnsCluster();
    own.putService(serviceObject('wide', { ...headless, ports: portList }));
    const took = spent(() => {
      for (let n = 0; n < 10; n++) own.putSlice(sliceObject('wide', addresses(100, 100 * n), portList));
      // An endpoint that moves is in two slices, with other ports.
      own.putSlice(sliceObject('wide', addresses(100), [...portList, { name: 'more', protocol: 'TCP', port: 9999 }]));
      for (const name of ['wide', '_p7._tcp.wide', '_tcp.wide', '10-9-0-1.wide']) {
        for (const type of ['SRV', 'A', 'AAAA'] as const) ask(svc(name), type, 'insecure', own);
      }
    });
    // 1.4 GB of heap and 20 s before.
    assert.ok(took < 1500 * machinePace(), `${took} ms`);
    const found = ask(svc('_more._tcp.wide'), 'SRV', 'insecure', own);
    assert.equal(found.filter((record) => record.startsWith('SRV')).length, 100);
    assert.equal(ask(svc('wide'), 'SRV', 'insecure', own).filter((record) => record.startsWith('SRV')).length, 4096);
  });

  it('look at a bounded number of names of one address', () => {
    const own = sampleDnsCluster();
    for (let n = 0; n < 1000; n++) {
      own.putService(serviceObject(`service-${n}`, headless));
      own.putSlice(sliceObject(`service-${n}`, addresses(100), []));
    }
    const took = spent(() => {
      const found = ask('7.0.9.10.in-addr.arpa', 'PTR', 'insecure', own);
      assert.equal(found.length, 256);
    });
    assert.ok(took < 50 * machinePace(), `${took} ms`);
  });

  it('have no answer when a message can not carry the name', () => {
    const own = sampleDnsCluster();
    for (const externalName of [`${'a'.repeat(64)}.example.com`, `${'a.'.repeat(127)}com`, 'a..com']) {
      own.putService(serviceObject('long', { type: 'ExternalName', externalName }));
      assert.deepEqual(ask(svc('long'), 'CNAME', 'insecure', own), none);
    }
  });

  it('follow the changes of what was answered before', () => {
    const own = sampleDnsCluster();
    own.putService(serviceObject('new', headless));
    const slice = sliceObject('new', addresses(2), []);
    own.putSlice(slice);
    assert.deepEqual(ask(svc('new'), 'A', 'insecure', own), ['A 10.9.0.0', 'A 10.9.0.1']);
    assert.deepEqual(ask(svc('new'), 'AAAA', 'insecure', own), empty);
    own.putSlice({ ...slice, endpoints: addresses(1, 7) } as unknown as typeof slice);
    assert.deepEqual(ask(svc('new'), 'A', 'insecure', own), ['A 10.9.0.7']);
    own.putSlice(sliceObject('new', [{ addresses: ['fd00::7'] }], [], 'IPv6'));
    assert.deepEqual(ask(svc('new'), 'AAAA', 'insecure', own), ['AAAA fd00::7']);
  });
});
