import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readResourceList } from './remote-resources.js';

const read = (resources: unknown) => readResourceList({ resources }, 'g.example', 'v1');
const verbs = ['get'];

describe('a list of resources', () => {
  it('has the subresources with their resource, and nothing without a name or a kind', () => {
    const list = read([
      { name: 'as', kind: 'A', namespaced: true, verbs },
      { name: 'as/scale', kind: 'Scale', group: 'autoscaling', version: 'v1', verbs },
      { name: 'asx/scale', kind: 'Scale', verbs },
      { name: '__proto__', kind: 'P', verbs: 'get' },
      { name: '', kind: 'A' },
      { name: 'x', kind: 7 },
      null,
      'text',
    ]);
    const kind = (of: string) => ({ group: 'g.example', version: 'v1', kind: of });
    const scale = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
    assert.deepEqual(list, [
      {
        resource: 'as',
        responseKind: kind('A'),
        scope: 'Namespaced',
        singularResource: '',
        verbs,
        subresources: [{ subresource: 'scale', responseKind: scale, verbs }],
      },
      { resource: '__proto__', responseKind: kind('P'), scope: 'Cluster', singularResource: '', verbs: [] },
    ]);
  });

  it('is refused when it is no list, or endless', () => {
    for (const value of [undefined, {}, 'x', 7]) assert.throws(() => read(value), /not a list of resources/);
    const many = Array.from({ length: 80_000 }, (_, i) => ({ name: `r${i}`, kind: 'R' }));
    assert.throws(() => read(many), /more than 5000 resources/);
  });

  it('takes time in proportion to its length', () => {
    const list = read(
      Array.from({ length: 5000 }, (_, i) => ({ name: i % 2 === 0 ? `r${i}` : `r${i - 1}/s`, kind: 'R' })),
    );
    assert.equal(list.length, 2500);
    assert.ok(list.every(({ subresources }) => subresources?.length === 1));
    const twice = Array.from({ length: 2500 }, () => [
      { name: 'r', kind: 'R' },
      { name: 'r/s', kind: 'R' },
    ]).flat();
    assert.equal(read(twice).length, 1);
    // All subresources belong to one group. Even so, resources must not be compared pairwise.
    const subresources = Array.from({ length: 4999 }, (_, i) => ({ name: `r/s${i}`, kind: 'R' }));
    assert.equal(read([{ name: 'r', kind: 'R' }, ...subresources])[0]?.subresources?.length, 4999);
  });
});
