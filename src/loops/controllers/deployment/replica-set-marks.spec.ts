import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { deploymentAnnotations, type StoredDeployment, type StoredSet } from './deployment-annotations.js';
import { newRevision, newSetAnnotations } from './replica-set-marks.js';

const names = vendorNames('k8s.io');
const marks = deploymentAnnotations(names);

const deployment = {
  metadata: { annotations: { note: 'x', [names.lastAppliedAnnotation]: '{}', [marks.revision]: '7' } },
} as unknown as StoredDeployment;

describe('newSetAnnotations', () => {
  it('takes over the annotations of the deployment, but not those about itself', () => {
    assert.deepEqual(newSetAnnotations(deployment, {}, 1n, marks), { note: 'x', [marks.revision]: '1' });
  });

  it('keeps a revision that is high enough', () => {
    const before = { note: 'x', [marks.revision]: '3' };
    assert.deepEqual(newSetAnnotations(deployment, before, 3n, marks), before);
    assert.deepEqual(newSetAnnotations(deployment, before, 2n, marks), before);
  });

  it('remembers the revisions that a set had', () => {
    const first = newSetAnnotations(deployment, { [marks.revision]: '1' }, 3n, marks);
    assert.equal(first[marks.revision], '3');
    assert.equal(first[marks.revisionHistory], '1');
    assert.equal(newSetAnnotations(deployment, first, 5n, marks)[marks.revisionHistory], '1,3');
  });

  it('forgets the first revisions of a long list', () => {
    const history = Array.from({ length: 700 }, (_, i) => i + 1)
      .join(',')
      .slice(0, 1999);
    const next = newSetAnnotations(
      deployment,
      { [marks.revision]: '900', [marks.revisionHistory]: history },
      901n,
      marks,
    );
    const text = next[marks.revisionHistory] ?? '';
    assert.ok(text.length <= 2000);
    assert.match(text, /^3,4,.*,900$/);
  });
});

describe('newRevision', () => {
  const set = (revision?: string) =>
    ({ metadata: { annotations: revision === undefined ? {} : { [marks.revision]: revision } } }) as StoredSet;
  it('is one above all others', () => {
    assert.equal(newRevision([], marks), 1n);
    assert.equal(newRevision([set('2'), set('11'), set()], marks), 12n);
    assert.equal(newRevision([set('x')], marks), 1n);
  });

  it('has 64 bits, as where the sets of another program are adopted', () => {
    const adopted = '3546343826724305832';
    assert.equal(newRevision([set(adopted), set('7')], marks), 3546343826724305833n);
    const next = newSetAnnotations(deployment, { [marks.revision]: adopted }, 3546343826724305833n, marks);
    assert.equal(next[marks.revision], '3546343826724305833');
    assert.equal(newRevision([set('9223372036854775807'), set('7')], marks), 8n, 'nothing is above it');
  });
});
