import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decode } from '../../../base/machinery/schema/index.js';
import { pod as podType } from '../../../objects/apis/core/v1/pod.types.js';
import { dnsConfigOf, hostNamesOf, hostsFile, readResolvConf } from './host-files.js';
import { serviceEnvironment } from './service-environment.js';

const uid = '0b0e1f9e-0000-4000-8000-000000000001';

function podOf(spec: object, metadata: object = {}) {
  const own = { name: 'web', namespace: 'default', uid, ...metadata };
  return decode(podType, { apiVersion: 'v1', kind: 'Pod', metadata: own, spec: { containers: [], ...spec } }).value;
}

describe('files of hosts and lookups', () => {
  const pod = podOf({
    hostname: 'h',
    subdomain: 's',
    hostAliases: [{ ip: '1.2.3.4', hostnames: ['a', 'b'] }],
    dnsPolicy: 'ClusterFirst',
  });

  it('name the pod and its aliases', () => {
    const names = hostNamesOf(pod, 'node', 'cluster.local');
    assert.deepEqual(names, { hostname: 'h', domain: 's.default.svc.cluster.local' });
    const text = hostsFile(pod, names, ['10.0.0.5'], undefined);
    assert.match(text, /^10\.0\.0\.5\th\.s\.default\.svc\.cluster\.local\th$/m);
    assert.match(text, /^1\.2\.3\.4\ta\tb$/m);
  });

  it('ask the servers of the cluster, or those of the machine', () => {
    const machine = readResolvConf('nameserver 9.9.9.9\nsearch x.y.\n# z\noptions timeout:1\n');
    assert.deepEqual(machine, { servers: ['9.9.9.9'], searches: ['x.y'], options: ['timeout:1'] });
    assert.deepEqual(dnsConfigOf(pod, ['10.96.0.10'], 'c.l', machine), {
      servers: ['10.96.0.10'],
      searches: ['default.svc.c.l', 'svc.c.l', 'c.l', 'x.y'],
      options: ['ndots:5'],
    });
    assert.deepEqual(dnsConfigOf(pod, [], 'c.l', machine), machine);
    const own = podOf({
      dnsPolicy: 'None',
      dnsConfig: { nameservers: ['1.1.1.1'], options: [{ name: 'ndots', value: '2' }] },
    });
    assert.deepEqual(dnsConfigOf(own, [], '', machine), { servers: ['1.1.1.1'], searches: [], options: ['ndots:2'] });
  });

  it('tell containers of services by their environment', () => {
    const service = {
      metadata: { name: 'my-db' },
      spec: { clusterIP: '10.0.0.9', ports: [{ name: 'sql', port: 5432, protocol: 'TCP' }] },
    };
    const headless = { metadata: { name: 'x' }, spec: { clusterIP: 'None', ports: [{ port: 1 }] } };
    const found = serviceEnvironment([service, headless] as never);
    assert.equal(found.get('MY_DB_SERVICE_HOST'), '10.0.0.9');
    assert.equal(found.get('MY_DB_SERVICE_PORT_SQL'), '5432');
    assert.equal(found.get('MY_DB_PORT_5432_TCP'), 'tcp://10.0.0.9:5432');
    assert.equal(
      [...found.keys()].some((name) => name.startsWith('X_')),
      false,
    );
  });
});
