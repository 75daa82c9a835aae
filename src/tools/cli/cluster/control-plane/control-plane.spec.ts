import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StartupError } from '../../../../base/machinery/startup-error.js';
import { vendorNames } from '../../../../base/machinery/vendor.js';
import { CertificateKey } from './certificate-key.js';
import { controlPlaneFlagLines, readClusterSettings } from './cluster-settings.js';

describe('CertificateKey', () => {
  const key = CertificateKey.generate();

  it('reads what it encrypted, each time in another way', () => {
    const [one, two] = [key.encrypt('a key é'), key.encrypt('a key é')];
    assert.notDeepEqual(one, two);
    assert.equal(CertificateKey.parse(key.toString()).decrypt(one), 'a key é');
    assert.equal(key.decrypt(two), 'a key é');
  });

  it('reads what kubeadm writes: nonce, ciphertext, tag', () => {
    // Test case 14 of the mode's specification, with the nonce before it.
    const known = CertificateKey.parse('00'.repeat(32));
    const text = '000000000000000000000000cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919';
    assert.equal(known.decrypt(Buffer.from(text, 'hex')), String.fromCharCode(0).repeat(16));
  });

  it('reads nothing that was changed, cut or encrypted by another key', () => {
    const data = key.encrypt('text');
    for (let index = 0; index < data.length; index++) {
      const changed = Buffer.from(data);
      changed[index] = (changed[index] ?? 0) ^ 1;
      assert.equal(key.decrypt(changed), undefined, `byte ${index}`);
    }
    for (const length of [0, 1, 27, data.length - 1]) assert.equal(key.decrypt(data.subarray(0, length)), undefined);
    assert.equal(CertificateKey.generate().decrypt(data), undefined);
  });

  it('has 32 bytes', () => {
    for (const text of ['', 'ab', 'zz'.repeat(32), '00'.repeat(33)]) assert.throws(() => CertificateKey.parse(text));
  });
});

describe('readClusterSettings', () => {
  const names = vendorNames('k8s.io', 'kubernetes');
  const document = [
    'controlPlaneEndpoint: api.example.com:6443',
    'apiServer:',
    '  certSANs: [other.example.com]',
    'networking:',
    '  serviceSubnet: 10.96.0.0/16',
    '  podSubnet: 10.244.0.0/16',
    '',
  ].join('\n');

  it('finds ranges, names and the flags that all servers share', () => {
    const flags = controlPlaneFlagLines([['service-node-port-range', '31000-31999']]);
    const settings = readClusterSettings({ ClusterConfiguration: document, PlinthFlags: flags }, names);
    assert.equal(settings.endpoint, 'api.example.com:6443');
    assert.equal(settings.podRange, '10.244.0.0/16');
    assert.deepEqual(settings.certificateNames, ['other.example.com']);
    const { serviceClusterIpRange, serviceNodePortRange, compat, vendor } = settings.cluster;
    assert.deepEqual(
      [serviceClusterIpRange, serviceNodePortRange, compat, vendor],
      ['10.96.0.0/16', '31000-31999', 'kubernetes', 'k8s.io'],
    );
    assert.deepEqual(settings.given, ['vendor', 'compat', 'service-cluster-ip-range', 'service-node-port-range']);
  });

  it('takes the map of another tool, and refuses what it does not know', () => {
    assert.equal(readClusterSettings({ ClusterConfiguration: '{}' }, names).endpoint, undefined);
    const refused: readonly Readonly<Record<string, string>>[] = [
      {},
      { ClusterConfiguration: '[]' },
      { ClusterConfiguration: '{}', PlinthFlags: '--bind-address=::\n' },
    ];
    for (const data of refused) assert.throws(() => readClusterSettings(data, names), StartupError);
  });
});
