import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { labelSelectorFromObject } from '../../../base/machinery/label-selector.js';
import { concernedBy, ownerKeys, rememberedSelectors } from './selected-objects.js';

const owned = (
  name: string,
  owner: string | undefined,
  kind = 'Set',
  labels: Record<string, string> = {},
): ApiObject => ({
  metadata: {
    name,
    namespace: 'ns',
    labels,
    ...(owner === undefined
      ? {}
      : { ownerReferences: [{ kind, name: owner, uid: owner, apiVersion: 'v1', controller: true }] }),
  },
});
const set = (name: string, selector: object) =>
  ({ metadata: { name, namespace: 'ns' }, spec: { selector } }) as ApiObject;

describe('the objects that a change concerns', () => {
  const selectorOf = rememberedSelectors((object: ApiObject) =>
    labelSelectorFromObject((object.spec as { selector: object }).selector),
  );
  const sets = [
    set('a', { matchLabels: { app: 'a' } }),
    set('b', { matchExpressions: [{ key: 'app', operator: 'Exists' }] }),
    set('broken', { matchExpressions: [{ key: 'app', operator: 'Nonsense' }] }),
  ];
  const informer = { inNamespace: (namespace: string) => new Set(namespace === 'ns' ? sets : []) };
  const keys = (object: ApiObject | undefined, old: ApiObject | undefined) =>
    [
      ...concernedBy(
        {
          kind: 'Set',
          informer: informer as never,
          chooses: (chooser, { metadata }) => selectorOf(chooser).matches(metadata.labels),
        },
        object,
        old,
      ),
    ].join(' ');

  const cases: readonly (readonly [string, ApiObject | undefined, ApiObject | undefined, string])[] = [
    ['its owner', owned('p', 'x'), undefined, 'ns/x'],
    ['its owner once', owned('p', 'x'), owned('p', 'x'), 'ns/x'],
    ['the owner before, too', owned('p', 'x'), owned('p', 'y'), 'ns/x ns/y'],
    ['the owner of one that is gone', undefined, owned('p', 'x'), 'ns/x'],
    ['nobody when something else manages it', owned('p', 'x', 'Job', { app: 'a' }), undefined, ''],
    ['all who choose an orphan', owned('p', undefined, '', { app: 'a' }), undefined, 'ns/a ns/b'],
    ['who let it go, and all who choose it', owned('p', undefined, '', { app: 'z' }), owned('p', 'x'), 'ns/x ns/b'],
    ['nobody when nobody chooses it', owned('p', undefined), undefined, ''],
    ['nobody any more', undefined, owned('p', undefined, '', { app: 'a' }), ''],
  ];
  for (const [what, object, old, expected] of cases) it(what, () => assert.equal(keys(object, old), expected));

  it('compiles each selector once', () => {
    let compiled = 0;
    const counting = rememberedSelectors(() => {
      compiled += 1;
      return labelSelectorFromObject({});
    });
    const [first, second] = sets as [ApiObject, ApiObject];
    for (const object of [first, first, second, first]) counting(object);
    assert.equal(compiled, 2);
  });

  it('knows owners of other kinds from those of its own', () => {
    assert.deepEqual(ownerKeys(owned('p', 'x', 'Job'), owned('p', 'y'), 'Set'), ['ns/y']);
  });
});
