import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DocumentError } from './document-error.js';
import { kubeProxyConfigurationDefaults } from './kube-proxy-configuration.js';
import { parseListenAddress } from './service-proxy.options.js';

const head = { apiVersion: 'kubeproxy.config.k8s.io/v1alpha1', kind: 'KubeProxyConfiguration' };

function problemsOf(fields: object): string {
  try {
    kubeProxyConfigurationDefaults({ ...head, ...fields });
  } catch (error) {
    if (error instanceof DocumentError) return error.problems.join('\n');
    throw error;
  }
  return '';
}

describe('kubeProxyConfigurationDefaults', () => {
  it('reads what stands for flags', () => {
    const defaults = kubeProxyConfigurationDefaults({
      ...head,
      clientConnection: { kubeconfig: '/etc/proxy.conf', qps: 5 },
      hostnameOverride: 'node-1',
      mode: 'nftables',
      clusterCIDR: '10.1.0.0/16,fd00::/64',
      nodePortAddresses: ['192.0.2.0/24'],
      healthzBindAddress: '0.0.0.0',
      metricsBindAddress: '[::1]:9999',
      nftables: { masqueradeAll: true, masqueradeBit: 12, minSyncPeriod: '2s', syncPeriod: '0s' },
      conntrack: { maxPerCore: 0, tcpEstablishedTimeout: '0s', udpTimeout: '1m' },
    });
    assert.deepEqual(defaults, {
      kubeconfig: '/etc/proxy.conf',
      'hostname-override': 'node-1',
      'proxy-mode': 'nftables',
      'cluster-cidr': ['10.1.0.0/16', 'fd00::/64'],
      'nodeport-addresses': ['192.0.2.0/24'],
      'healthz-bind-address': '0.0.0.0:10256',
      'metrics-bind-address': '[::1]:9999',
      'masquerade-bit': 12,
      'masquerade-all': true,
      'min-sync-period': 2000,
      'conntrack-max-per-core': 0,
      'conntrack-tcp-timeout-established': 0,
      'conntrack-udp-timeout': 60_000,
    });
  });

  it('takes the file that a bootstrap tool writes, where most says nothing', () => {
    const nothing = {
      bindAddress: '0.0.0.0',
      bindAddressHardFail: false,
      clientConnection: { acceptContentTypes: '', burst: 0, contentType: '', kubeconfig: '/k', qps: 0 },
      configSyncPeriod: '0s',
      conntrack: { maxPerCore: null, min: null, tcpCloseWaitTimeout: null, tcpEstablishedTimeout: null },
      detectLocal: { bridgeInterface: '', interfaceNamePrefix: '' },
      detectLocalMode: '',
      enableProfiling: false,
      iptables: { localhostNodePorts: null, masqueradeBit: null, minSyncPeriod: '0s', syncPeriod: '0s' },
      ipvs: { excludeCIDRs: null, minSyncPeriod: '0s', scheduler: '', strictARP: false },
      logging: { flushFrequency: 0, options: { json: { infoBufferSize: '0' } }, verbosity: 0 },
      mode: '',
      nodePortAddresses: null,
      oomScoreAdj: null,
      portRange: '',
      showHiddenMetricsForVersion: '',
      winkernel: { enableDSR: false },
    };
    assert.deepEqual(kubeProxyConfigurationDefaults({ ...head, ...nothing }), { kubeconfig: '/k' });
  });

  it('refuses unknown fields, other kinds and what this proxy does not do', () => {
    assert.match(problemsOf({ clusterCIDRs: [] }), /clusterCIDRs: Forbidden: there is no such field/);
    assert.match(problemsOf({ nftables: { masqueradeBits: 1 } }), /nftables\.masqueradeBits/);
    assert.match(problemsOf({ enableProfiling: true }), /enableProfiling: this proxy does not support/);
    assert.match(problemsOf({ nftables: { syncPeriod: 'soon' } }), /nftables\.syncPeriod: must be a duration/);
    assert.match(problemsOf({ kind: 'KubeletConfiguration' }), /kind: must be KubeProxyConfiguration/);
  });
});

it('reads addresses with ports', () => {
  assert.deepEqual(parseListenAddress('[::]:10256'), { address: '::', port: 10_256 });
  assert.deepEqual(parseListenAddress('127.0.0.1:0'), { address: '127.0.0.1', port: 0 });
  for (const text of ['', ':10256', 'localhost:80', '127.0.0.1', '::1:80', '1.2.3.4:70000']) {
    assert.equal(parseListenAddress(text), undefined, text);
  }
});
