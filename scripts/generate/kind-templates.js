// The files of a new kind, as docs/adding-a-kind.md explains them. They are a start: replace `size` and `phase`.
import { camel, kebab } from './names.js';

/** The file that declares the fields, once for all formats. */
export function typesFile({ group, version, kind, namespaced }) {
  const name = camel(kind);
  return `import { always, type Infer, int32, kind, optional, pointer, string, struct } from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const ${name}Spec = struct(
  '${group}.${version}.${kind}Spec',
  {
    size: pointer(1, int32, { doc: 'Number of units; 1 if not given.' }),
  },
  { doc: 'The wanted state.' },
);
export type ${kind}Spec = Infer<typeof ${name}Spec>;

export const ${name}Status = struct(
  '${group}.${version}.${kind}Status',
  {
    phase: optional(1, string, { doc: 'Progress towards the wanted state.' }),
  },
  { doc: 'The present state, written by the component that brings it about.' },
);
export type ${kind}Status = Infer<typeof ${name}Status>;

export const ${name} = kind(
  { group: '${group === 'core' ? '' : group}', version: '${version}', kind: '${kind}', scope: '${namespaced ? 'Namespaced' : 'Cluster'}' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, ${name}Spec),
    status: always(3, ${name}Status),
  },
  { doc: 'Describe ${kind} here: kubectl explain shows it.' },
);
export type ${kind} = Infer<typeof ${name}>;

export const ${name}List = listKind(${name});
export type ${kind}List = Infer<typeof ${name}List>;
`;
}

/** The protobuf numbers of that declaration, in the form of `test/facts`. */
export function fieldNumbers(kind) {
  return {
    [kind]: 'metadata 1,spec 2,status 3',
    [`${kind}List`]: 'metadata 1,items 2',
    [`${kind}Spec`]: 'size 1v',
    [`${kind}Status`]: 'phase 1',
  };
}

/** The file with the defaults and rules of the kind. */
export function strategyFile({ group, version, kind }) {
  const name = camel(kind);
  return `import type { ${kind} } from '../../../objects/apis/${group}/${version}/${kebab(kind)}.types.js';
import { type FieldError, FieldPath, invalid } from '../../../base/machinery/field-error.js';
import type { Strategy } from '../../../objects/registry/strategy.js';

/** Defaults and rules of ${kind} objects. */
export const ${name}Strategy: Strategy<${kind}> = {
  applyDefaults: ({ spec }) => {
    spec.size ??= 1;
  },
  validate: (_context, { spec }) => sizeErrors(spec.size),
  validateUpdate: (_context, { spec }) => sizeErrors(spec.size),
};

function sizeErrors(size: number | undefined): FieldError[] {
  if (size === undefined || size >= 1) return [];
  return [invalid(FieldPath.of('spec', 'size'), size, 'must be greater than 0')];
}
`;
}

/** The file that defines how the kind is served. */
export function resourceFile({ group, version, kind, plural, singular, namespaced }) {
  const name = camel(kind);
  const file = kebab(kind);
  const groupText = group === 'core' ? "''" : `groupName('${group}', names)`;
  const parameters = group === 'core' ? '' : 'names: VendorNames';
  const imported =
    group === 'core' ? '' : "import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';\n";
  return `import { type ${kind}, ${name} } from '../../../objects/apis/${group}/${version}/${file}.types.js';
${imported}import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import { defineResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import { ${name}Strategy } from './${file}.strategy.js';

/** \`${plural}\`: describe the kind here. */
export function ${name}Resource(${parameters}): ResourceDefinition {
  return defineResource<${kind}>({
    group: ${groupText},
    resource: '${plural}',
    singular: '${singular}',
    kind: '${kind}',
    namespaced: ${namespaced},
    versions: [{ version: '${version}', type: ${name} }],
    strategyOptions: { generation: 'spec' },
    strategy: ${name}Strategy,
    columns: [
      nameColumn,
      { name: 'Size', type: 'integer', description: 'Number of units.', cell: ({ spec }) => spec.size ?? 0 },
      ageColumn,
    ],
    subresources: [statusSubresource<${kind}>()],
  });
}
`;
}

/** The file with a first test. */
export function specFile({ group, kind, plural }) {
  const name = camel(kind);
  const argument = group === 'core' ? '' : 'testNames';
  const imported = group === 'core' ? 'DefinitionTester' : 'DefinitionTester, testNames';
  return `import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ${imported} } from '../../../../test/support/definition-tester.js';
import { ${name}Resource } from './${kebab(kind)}.resource.js';

describe('${plural}', () => {
  const tester = new DefinitionTester(${name}Resource(${argument}));

  it('get defaults', () => {
    assert.deepEqual(tester.create({}).object.spec, { size: 1 });
  });

  it('are refused when a rule is broken', () => {
    const { causes } = tester.create({ spec: { size: 0 } });
    assert.deepEqual(causes, ['FieldValueInvalid | spec.size | Invalid value: 0: must be greater than 0']);
  });

  it('keep their status when the spec changes', () => {
    const old = { ...tester.create({}).object, status: { phase: 'Made' } };
    const { object } = tester.patch(old, { spec: { size: 2 }, status: { phase: 'Lost' } });
    assert.deepEqual([object.spec, object.status], [{ size: 2 }, { phase: 'Made' }]);
  });
});
`;
}

/** The file with the module of a new group. */
export function groupFile({ group, className, resourcesName, kind }) {
  const name = camel(kind);
  return `import { type DynamicModule, Module } from '@nestjs/common';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import { ${name}Resource } from './${kebab(kind)}/${kebab(kind)}.resource.js';

/** Resources of the group \`${group}\`. */
export function ${resourcesName}(names: VendorNames): ResourceDefinition[] {
  return [${name}Resource(names)];
}

/** The API group \`${group}\`. */
@Module({})
export class ${className} {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(${className}, host, { inject: [VENDOR_NAMES], useFactory: ${resourcesName} });
  }
}
`;
}
