import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OwnerReference } from '../../../base/machinery/api-object.js';
import type { StoredPod } from '../frame/indexes.js';
import { isStaleClaim, wantedOwners } from './claim-owners.js';
import type { StoredClaim, StoredStatefulSet } from './stateful-pods.js';

const keep = { whenDeleted: 'Retain', whenScaled: 'Retain' };
const withSet = { whenDeleted: 'Delete', whenScaled: 'Retain' };
const withPod = { whenDeleted: 'Retain', whenScaled: 'Delete' };
const both = { whenDeleted: 'Delete', whenScaled: 'Delete' };

const owner = (kind: string, name: string, uid: string, controller = true): OwnerReference => ({
  apiVersion: kind === 'Pod' ? 'v1' : 'apps/v1',
  kind,
  name,
  uid,
  ...(controller ? { controller, blockOwnerDeletion: true } : {}),
});
const ofSet = owner('StatefulSet', 'db', 's');
const ofPod = (ordinal: number) => owner('Pod', `db-${ordinal}`, `p${ordinal}`);
const ofOther = owner('Backup', 'b', 'b', false);

const claim = (owners: readonly OwnerReference[]) =>
  ({ metadata: { ownerReferences: owners } }) as unknown as StoredClaim;

describe('wantedOwners', () => {
  // The set wants db-0 and db-1; db-2 is superfluous.
  const cases: readonly (readonly [
    string,
    object | undefined,
    number,
    OwnerReference[],
    OwnerReference[] | undefined,
  ])[] = [
    ['no policy', undefined, 0, [], undefined],
    ['claims that stay', keep, 0, [], undefined],
    ['claims that go with the set', withSet, 0, [], [ofSet]],
    ['the same, done', withSet, 0, [ofSet], undefined],
    ['the same for a superfluous pod', withSet, 2, [], [ofSet]],
    ['claims that go with pods, of a wanted pod', withPod, 1, [], undefined],
    ['the same, of a superfluous pod', withPod, 2, [], [ofPod(2)]],
    ['the same, done', withPod, 2, [ofPod(2)], undefined],
    ['both, of a wanted pod', both, 1, [], [ofSet]],
    ['both, of a pod that becomes superfluous', both, 2, [ofSet], [ofPod(2)]],
    ['both, of a pod that is wanted again', both, 1, [ofPod(1)], [ofSet]],
    ['a policy that changed', keep, 0, [ofSet], []],
    ['an owner of somebody else', withSet, 0, [ofOther], [ofOther, ofSet]],
    ['a controller of somebody else', withSet, 0, [owner('Backup', 'b', 'b')], undefined],
    ['a former reference that controls nothing', withSet, 0, [owner('StatefulSet', 'db', 's', false)], [ofSet]],
  ];
  for (const [name, policy, ordinal, present, expected] of cases) {
    it(name, () => {
      const set = {
        kind: 'StatefulSet',
        apiVersion: 'apps/v1',
        metadata: { name: 'db', uid: 's' },
        spec: { replicas: 2, persistentVolumeClaimRetentionPolicy: policy },
      } as unknown as StoredStatefulSet;
      const metadata = { name: `db-${ordinal}`, uid: `p${ordinal}` };
      const pod = { kind: 'Pod', apiVersion: 'v1', metadata } as unknown as StoredPod;
      assert.deepEqual(wantedOwners(claim(present), set, pod), expected);
    });
  }
});

describe('isStaleClaim', () => {
  it('is a claim that goes with a pod of the name', () => {
    assert.equal(isStaleClaim(claim([ofPod(1)]), 'db-1'), true);
    assert.equal(isStaleClaim(claim([ofPod(1)]), 'db-2'), false);
    assert.equal(isStaleClaim(claim([ofSet]), 'db-1'), false);
  });
});
