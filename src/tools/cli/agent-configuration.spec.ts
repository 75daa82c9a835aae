import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { kubeletConfigurationDefaults } from '../../base/config/kubelet-configuration.js';
import { parseOptions } from '../../base/config/parse-options.js';
import { agentConfiguration } from './agent-configuration.js';
import { nodeCommandGroups } from './commands/node-command-options.js';

function shown(...argv: readonly string[]): Record<string, unknown> {
  const options = parseOptions({ groups: nodeCommandGroups, argv, environment: {}, defaults: {} } as never);
  return agentConfiguration(options as never, 'Webhook') as Record<string, unknown>;
}

describe('agentConfiguration', () => {
  it('shows the defaults of release 1.37 where this agent has them', () => {
    const all = shown('--kubeconfig=k');
    assert.deepEqual(
      [all.imageMinimumGCAge, all.nodeLeaseDurationSeconds, all.shutdownGracePeriod, all.containerRuntimeEndpoint],
      ['2m0s', 40, '0s', 'unix:///run/containerd/containerd.sock'],
    );
    assert.deepEqual(all.evictionHard, {
      'imagefs.available': '15%',
      'memory.available': '100Mi',
      'nodefs.available': '10%',
    });
    assert.equal('staticPodPath' in all, false);
  });

  it('shows what flags set, and no secret', () => {
    const all = shown(
      '--kubeconfig=k',
      '--manifest-url=http://a/b',
      '--manifest-url-header=authorization:secret',
      '--shutdown-grace-period-by-pod-priority=0=30s,1000=10s',
      '--register-with-taints=a=b:NoSchedule',
      '--kube-reserved=cpu=200m',
      '--cluster-dns=10.0.0.10',
    );
    assert.deepEqual(all.staticPodURLHeader, { authorization: ['<masked>'] });
    assert.deepEqual(all.shutdownGracePeriodByPodPriority, [
      { priority: 0, shutdownGracePeriodSeconds: 30 },
      { priority: 1000, shutdownGracePeriodSeconds: 10 },
    ]);
    assert.deepEqual(all.registerWithTaints, [{ key: 'a', value: 'b', effect: 'NoSchedule' }]);
    assert.deepEqual(all.kubeReserved, { cpu: '200m' });
    assert.deepEqual(all.clusterDNS, ['10.0.0.10']);
    assert.doesNotMatch(JSON.stringify(all), /secret/);
  });

  it('has no field that configuration files do not know', () => {
    const problemsOf = (document: object) => {
      try {
        kubeletConfigurationDefaults(document);
        return '';
      } catch (error) {
        return String(error);
      }
    };
    const all = shown('--kubeconfig=k', '--cluster-dns=10.0.0.10');
    assert.match(problemsOf({ ...all, other: 1 }), /there is no such field/);
    assert.doesNotMatch(problemsOf(all), /there is no such field/);
  });
});
