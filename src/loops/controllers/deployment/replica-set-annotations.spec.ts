import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { deploymentAnnotations, type StoredDeployment, type StoredReplicaSet } from './deployment-annotations.js';
import { newRevision, newSetAnnotations } from './replica-set-annotations.js';

const names = vendorNames('k8s.io');
const annotations = deploymentAnnotations(names);

const deployment = {
  metadata: { annotations: { note: 'x', [names.lastAppliedAnnotation]: '{}', [annotations.revision]: '7' } },
} as unknown as StoredDeployment;

describe('newSetAnnotations', () => {
  it('takes over the annotations of the deployment, but not those about itself', () => {
    assert.deepEqual(newSetAnnotations(deployment, {}, 1n, annotations), { note: 'x', [annotations.revision]: '1' });
  });

  it('keeps a revision that is high enough', () => {
    const before = { note: 'x', [annotations.revision]: '3' };
    assert.deepEqual(newSetAnnotations(deployment, before, 3n, annotations), before);
    assert.deepEqual(newSetAnnotations(deployment, before, 2n, annotations), before);
  });

  it('remembers the revisions that a set had', () => {
    const first = newSetAnnotations(deployment, { [annotations.revision]: '1' }, 3n, annotations);
    assert.equal(first[annotations.revision], '3');
    assert.equal(first[annotations.revisionHistory], '1');
    assert.equal(newSetAnnotations(deployment, first, 5n, annotations)[annotations.revisionHistory], '1,3');
  });

  it('forgets the first revisions of a long list', () => {
    const history = Array.from({ length: 700 }, (_, i) => i + 1)
      .join(',')
      .slice(0, 1999);
    const next = newSetAnnotations(
      deployment,
      { [annotations.revision]: '900', [annotations.revisionHistory]: history },
      901n,
      annotations,
    );
    const text = next[annotations.revisionHistory] ?? '';
    assert.ok(text.length <= 2000);
    assert.match(text, /^3,4,.*,900$/);
  });
});

describe('newRevision', () => {
  const set = (revision?: string) =>
    ({
      metadata: { annotations: revision === undefined ? {} : { [annotations.revision]: revision } },
    }) as StoredReplicaSet;
  it('is one above all others', () => {
    assert.equal(newRevision([], annotations), 1n);
    assert.equal(newRevision([set('2'), set('11'), set()], annotations), 12n);
    assert.equal(newRevision([set('x')], annotations), 1n);
  });

  it('has 64 bits, as where the sets of another program are adopted', () => {
    const adopted = '3546343826724305832';
    assert.equal(newRevision([set(adopted), set('7')], annotations), 3546343826724305833n);
    const next = newSetAnnotations(deployment, { [annotations.revision]: adopted }, 3546343826724305833n, annotations);
    assert.equal(next[annotations.revision], '3546343826724305833');
    assert.equal(newRevision([set('9223372036854775807'), set('7')], annotations), 8n, 'nothing is above it');
  });
});
