import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { makeAuthority } from '../../../../test/support/certificate-requests.js';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { ClusterTrustBundle } from '../../../objects/apis/certificates/v1/cluster-trust-bundle.types.js';

type Bundle = ClusterTrustBundle & ApiObject;

const bundles = 'clustertrustbundles.certificates';
const signerName = 'kubernetes.io/kube-apiserver-serving';

describe('TrustBundlePublisher', () => {
  let scene: LoopScene;

  before(async () => {
    scene = await LoopScene.start();
  });
  after(() => scene?.end());

  it('publishes the authorities of the API, and nothing else for their signer', async () => {
    const [one, next] = await Promise.all([makeAuthority(), makeAuthority()]);
    const listeners = new Set<() => void>();
    const rootAuthority = {
      pem: one.certificate,
      onChange: (listener: () => void) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    };
    const spec = { signerName, trustBundle: next.certificate };
    await scene.create(bundles, { metadata: { name: 'kubernetes.io:kube-apiserver-serving:old' }, spec } as object);
    const other = { signerName: 'example.com/a', trustBundle: next.certificate };
    await scene.create(bundles, { metadata: { name: 'example.com:a:kept' }, spec: other } as object);
    await scene.run(['kube-apiserver-serving-clustertrustbundle-publisher-controller'], undefined, undefined, {
      rootAuthority,
    });
    const published = (pem: string) =>
      scene.until<Bundle, string>(bundles, 'one bundle with the authorities', (all) => {
        const own = all.filter(({ spec: { signerName: of } }) => of === signerName);
        const [first] = own;
        return own.length === 1 && first?.spec.trustBundle === pem ? first.metadata.name : undefined;
      });
    const name = await published(one.certificate);
    assert.match(name, /^kubernetes\.io:kube-apiserver-serving:[0-9a-f]{24}$/);
    rootAuthority.pem = next.certificate;
    for (const listener of listeners) listener();
    assert.notEqual(await published(next.certificate), name);
    assert.ok(await scene.find(bundles, '', 'example.com:a:kept'));
    assert.deepEqual(scene.logged, []);
  });
});
