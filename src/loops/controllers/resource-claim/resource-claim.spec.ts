import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { StoredPod } from '../frame/indexes.js';
import type { StoredResourceClaim } from './pod-claims.js';

const claims = 'resourceclaims.resource';
const finalizer = 'resource.kubernetes.io/delete-protection';

describe('ResourceClaimController', () => {
  let postgres: TestPostgres;
  let scene: LoopScene;

  before(async () => {
    postgres = await startTestPostgres();
    scene = await LoopScene.start({ postgres });
    await scene.run(['resourceclaim-controller']);
  });
  after(async () => {
    await scene?.end();
    await postgres?.stop();
  });

  const devices = { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] };
  const addPod = (name: string, claim: object) =>
    scene.create('pods', {
      metadata: { name, namespace: 'default' },
      spec: {
        containers: [{ name: 'c', image: 'i', resources: { claims: [{ name: 'gpu' }] } }],
        resourceClaims: [{ name: 'gpu', ...claim }],
      },
    } as object) as Promise<StoredPod>;
  const allocate = (name: string, pod?: StoredPod) =>
    scene.update<StoredResourceClaim>(
      claims,
      'default',
      name,
      (live) => {
        live.status.allocation = {
          devices: { results: [{ request: 'r', driver: 'd.example.com', pool: 'p', device: name }] },
        } as unknown as NonNullable<StoredResourceClaim['status']['allocation']>;
        if (pod === undefined) return;
        const { name: podName = '', uid = '' } = pod.metadata;
        live.status.reservedFor = [{ resource: 'pods', name: podName, uid }];
      },
      'status',
    );

  it('makes claims from templates, also when the template comes later, and names them in the pods', async () => {
    const pod = await addPod('p', { resourceClaimTemplateName: 't' });
    const missing = 'resourceclaimtemplate.resource.k8s.io "t" not found';
    await scene.until<ApiObject & { readonly message?: string }, boolean>('events', 'the event names it', (all) =>
      all.some(({ message }) => message?.endsWith(missing) === true),
    );
    await scene.create('resourceclaimtemplates.resource', {
      metadata: { name: 't', namespace: 'default' },
      spec: { metadata: { labels: { a: 'b' } }, spec: { devices } },
    } as object);
    const claim = await scene.until<StoredResourceClaim, StoredResourceClaim | undefined>(
      claims,
      'the claim is made',
      (all) => all.find(({ metadata }) => metadata.ownerReferences?.[0]?.uid === pod.metadata.uid),
    );
    assert.match(claim?.metadata.name ?? '', /^p-gpu-/);
    assert.deepEqual(claim?.metadata.labels, { a: 'b' });
    assert.equal(claim?.metadata.annotations?.['resource.kubernetes.io/pod-claim-name'], 'gpu');
    await scene.until<StoredPod, boolean>('pods', 'the pod names its claim', (all) =>
      all.some(({ status }) => status.resourceClaimStatuses?.[0]?.resourceClaimName === claim?.metadata.name),
    );
  });

  it('takes pods that are gone off a claim, frees its devices, and lets it go', async () => {
    await scene.create(claims, {
      metadata: { name: 'shared', namespace: 'default', finalizers: [finalizer] },
      spec: { devices },
    } as object);
    const pod = await addPod('q', { resourceClaimName: 'shared' });
    await allocate('shared', pod);
    await scene.until<StoredResourceClaim, boolean>(claims, 'the claim is used', (all) =>
      all.some(({ metadata, status }) => metadata.name === 'shared' && status.reservedFor?.length === 1),
    );
    await scene.delete('pods', 'default', 'q');
    await scene.until<StoredResourceClaim, boolean>(claims, 'the claim is free', (all) =>
      all.some(
        ({ metadata, status }) =>
          metadata.name === 'shared' &&
          status.reservedFor === undefined &&
          status.allocation === undefined &&
          (metadata.finalizers ?? []).length === 0,
      ),
    );
  });
});
