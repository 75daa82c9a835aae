import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { ManifestError } from './manifest-error.js';
import { readManifest } from './static-pod.js';

describe('manifests of static pods', () => {
  const context = {
    nodeName: 'n1',
    source: 'file' as const,
    origin: '/x',
    names: vendorNames('k8s.io', 'kubernetes'),
    seen: 't',
  };
  const yaml = 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: i}]}\n';

  it('become pods of the node, the same text the same one', () => {
    const [pod, other] = readManifest(`${yaml}---\n${yaml.replace('name: a', 'name: b')}`, context);
    assert.deepEqual([pod?.metadata.name, pod?.metadata.namespace, other?.metadata.name], ['a-n1', 'default', 'b-n1']);
    assert.equal(pod?.spec.restartPolicy, 'Always');
    assert.equal(pod?.metadata.annotations?.['kubernetes.io/config.hash'], pod?.metadata.uid);
    assert.equal(readManifest(yaml, context)[0]?.metadata.uid, pod?.metadata.uid);
    assert.notEqual(readManifest(yaml.replace('image: i', 'image: j'), context)[0]?.metadata.uid, pod?.metadata.uid);
  });

  it('are refused with a reason in one line when they are wrong', () => {
    for (const text of [
      '{',
      'kind: Service\napiVersion: v1\n',
      yaml.replace('containers', 'container'),
      yaml.replace('name: a', 'name: ../a'),
      yaml.replace('{name: a}', '{name: a, uid: ../../x}'),
      // This uid can't be the name of a folder.
      ...['-x', 'x-', '_', '-'].map((bad) => yaml.replace('{name: a}', `{name: a, uid: "${bad}"}`)),
      yaml.replace('image: i', 'image: ""'),
    ]) {
      assert.throws(
        () => readManifest(text, context),
        (error) => error instanceof ManifestError && !error.message.includes('\n'),
        text,
      );
    }
  });
});

describe('a manifest of a pod without the API', () => {
  const context = { nodeName: 'n1', source: 'file' as const, origin: '/x', names: vendorNames('k8s.io'), seen: 't' };
  const refused = (spec: object) => {
    const containers = [{ name: 'c', image: 'i' }];
    const text = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a' },
      spec: { containers, ...spec },
    });
    try {
      readManifest(text, context);
    } catch (error) {
      assert.ok(error instanceof ManifestError, String(error));
      return error.message;
    }
    return undefined;
  };
  const projected = (source: object) => ({ volumes: [{ name: 'v', projected: { sources: [source] } }] });
  const withEnv = (env: object) => ({ containers: [{ name: 'c', image: 'i', ...env }] });

  it('may not refer to objects of the API', () => {
    for (const [spec, what] of [
      [{ serviceAccountName: 'boss' }, 'serviceaccounts'],
      [{ imagePullSecrets: [{ name: 's' }] }, 'secrets'],
      [withEnv({ envFrom: [{ secretRef: { name: 's' } }] }), 'secrets'],
      [withEnv({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] }), 'secrets'],
      [withEnv({ envFrom: [{ configMapRef: { name: 's' } }] }), 'configmaps'],
      [withEnv({ env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 's', key: 'k' } } }] }), 'configmaps'],
      [{ volumes: [{ name: 'v', secret: { secretName: 's' } }] }, 'secrets'],
      [{ volumes: [{ name: 'v', configMap: { name: 's' } }] }, 'configmaps'],
      [{ volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 's' } }] }, 'persistentvolumeclaims'],
      [
        {
          volumes: [
            {
              name: 'v',
              ephemeral: {
                volumeClaimTemplate: {
                  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
                },
              },
            },
          ],
        },
        'persistentvolumeclaims (via ephemeral volumes)',
      ],
      [{ volumes: [{ name: 'v', csi: { driver: 'd.example.com' } }] }, 'csidrivers (via CSI volumes)'],
      [projected({ secret: { name: 's' } }), 'secrets'],
      [projected({ configMap: { name: 's' } }), 'configmaps'],
      [projected({ serviceAccountToken: { path: 't' } }), 'serviceaccounts (via projected volumes)'],
      [projected({ clusterTrustBundle: { name: 's', path: 't' } }), 'clustertrustbundles'],
    ] as const) {
      assert.equal(refused(spec), `static pods may not reference ${what}`, JSON.stringify(spec));
    }
    for (const spec of [
      { volumes: [{ name: 'v', emptyDir: {} }] },
      { volumes: [{ name: 'v', hostPath: { path: '/x' } }] },
      projected({ downwardAPI: { items: [{ path: 'n', fieldRef: { fieldPath: 'metadata.name' } }] } }),
    ])
      assert.equal(refused(spec), undefined, JSON.stringify(spec));
  });
});
