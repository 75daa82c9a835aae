import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DocumentError } from './document-error.js';
import { kubeletConfigurationDefaults } from './kubelet-configuration.js';

const head = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };

function problemsOf(fields: object): readonly string[] {
  try {
    kubeletConfigurationDefaults({ ...head, ...fields });
  } catch (error) {
    if (error instanceof DocumentError) return error.problems;
    throw error;
  }
  return [];
}

describe('kubeletConfigurationDefaults', () => {
  it('lets nobody be anonymous and asks the API where the file says nothing', () => {
    assert.deepEqual(kubeletConfigurationDefaults(head), {
      'anonymous-auth': false,
      'authentication-token-webhook': true,
      'authorization-mode': 'Webhook',
    });
  });

  it('reads what stands for flags, and takes zero durations as written by programs for the default', () => {
    const defaults = kubeletConfigurationDefaults({
      ...head,
      authentication: { anonymous: { enabled: true }, webhook: { cacheTTL: '0s' }, x509: { clientCAFile: '/ca.crt' } },
      authorization: { mode: 'AlwaysAllow', webhook: { cacheAuthorizedTTL: '1m' } },
      fileCheckFrequency: '5s',
      syncFrequency: '0s',
      maxPods: 20,
      failSwapOn: false,
      clusterDNS: ['10.96.0.10'],
      evictionHard: { 'memory.available': '200Mi', 'nodefs.available': '5%' },
      registerWithTaints: [{ key: 'a', value: 'b', effect: 'NoSchedule' }],
      cpuManagerPolicy: 'static',
      cpuManagerReconcilePeriod: '5s',
      reservedSystemCPUs: '0-1',
      kubeReserved: { cpu: '200m', memory: '1Gi' },
      contentType: 'application/json',
      shutdownGracePeriodByPodPriority: [
        { priority: 1000, shutdownGracePeriodSeconds: 20 },
        { priority: 0, shutdownGracePeriodSeconds: 60 },
      ],
      logging: { flushFrequency: 0, options: { json: { infoBufferSize: '0' } }, verbosity: 0 },
    });
    assert.equal(defaults['anonymous-auth'], true);
    assert.equal(defaults['authorization-mode'], 'AlwaysAllow');
    assert.equal(defaults['authorization-webhook-cache-authorized-ttl'], 60_000);
    assert.equal('authentication-token-webhook-cache-ttl' in defaults, false);
    assert.equal(defaults['client-ca-file'], '/ca.crt');
    assert.equal(defaults['file-check-frequency'], 5000);
    assert.equal(defaults['max-pods'], 20);
    assert.equal(defaults['fail-swap-on'], false);
    assert.deepEqual(defaults['cluster-dns'], ['10.96.0.10']);
    assert.deepEqual(defaults['eviction-hard'], ['memory.available<200Mi', 'nodefs.available<5%']);
    assert.deepEqual(defaults['register-with-taints'], ['a=b:NoSchedule']);
    assert.equal(defaults['cpu-manager-policy'], 'static');
    assert.equal(defaults['cpu-manager-reconcile-period'], 5000);
    assert.equal(defaults['reserved-cpus'], '0-1');
    assert.deepEqual(defaults['shutdown-grace-period-by-pod-priority'], ['1000=20s', '0=60s']);
    assert.deepEqual(defaults['kube-reserved'], ['cpu=200m', 'memory=1Gi']);
    assert.equal(defaults['kube-api-content-type'], 'application/json');
  });

  it('refuses unknown fields, other kinds and what this agent does not do', () => {
    assert.match(problemsOf({ maxPodz: 3 }).join(), /maxPodz: Forbidden: there is no such field/);
    assert.match(problemsOf({ authentication: { x509: { clientCA: '' } } }).join(), /authentication\.x509\.clientCA/);
    assert.match(
      problemsOf({ memoryManagerPolicy: 'Static' }).join(),
      /memoryManagerPolicy: this node agent does not support/,
    );
    assert.match(problemsOf({ kind: 'Other' }).join(), /kind: must be KubeletConfiguration/);
    assert.match(problemsOf({ fileCheckFrequency: 'soon' }).join(), /fileCheckFrequency: must be a duration/);
    assert.match(problemsOf({ maxPods: 'many' }).join(), /maxPods: must be a whole number|maxPods/);
  });
});
