import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { atOnce } from '../../../base/machinery/turns.js';
import type { CustomResourceDefinition } from '../../apis/apiextensions/v1/custom-resource-definition.types.js';
import { customKind } from './custom-kind.js';
import { definitionSource } from './definition-source.js';

/** What both documents publish of a kind with these selectable fields, its fields aside. */
function published(selectableFields: readonly { readonly jsonPath: string }[] | undefined): readonly unknown[] {
  const names = { plural: 'gears', singular: 'gear', kind: 'Gear', listKind: 'GearList' };
  const spec = { type: 'object', properties: { size: { type: 'string' }, maker: { type: 'string' } } };
  const version = {
    ...{ name: 'v1', served: true, storage: true, selectableFields },
    schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
  };
  const definition = {
    metadata: { name: 'gears.shop.example', uid: 'u' },
    spec: { group: 'shop.example', scope: 'Namespaced', names, versions: [version] },
    status: { acceptedNames: names, conditions: [{ type: 'Established', status: 'True' }], storedVersions: ['v1'] },
  };
  const source = atOnce(definitionSource(definition as unknown as CustomResourceDefinition));
  assert.ok(source !== undefined);
  const { custom } = customKind(source, source.versions[0], () => assert.fail('the documents need no structure'));
  return ([2, 3] as const).map((form) => custom?.openApi(form, () => ({})));
}

describe('the published schema of a custom kind', () => {
  it('names the fields that selectors may name, as selectors write them', () => {
    const fields = [{ fieldPath: 'spec.size' }, { fieldPath: 'spec.maker' }];
    const both = published([{ jsonPath: '.spec.size' }, { jsonPath: '.spec.maker' }]);
    assert.deepEqual(both, [
      { 'x-kubernetes-selectable-fields': fields },
      { 'x-kubernetes-selectable-fields': fields },
    ]);
  });

  it('names none where a definition has none', () => {
    for (const none of [undefined, []]) assert.deepEqual(published(none), [{}, {}]);
  });
});
