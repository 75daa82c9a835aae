import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testClock, testNames, testTime } from '../../../../test/support/definition-tester.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { setCondition } from '../../../objects/custom-resources/definition/definition-conditions.js';
import { decideDelete } from '../../../objects/registry/metadata/before-delete.js';
import { customResourceDefinitionResource } from './custom-resource-definition.resource.js';

const resource = customResourceDefinitionResource(testNames, testClock);
const definitions = new DefinitionTester(resource);
const schema = { openAPIV3Schema: { type: 'object' } };
const version = { name: 'v1', served: true, storage: true, schema };
const names = { plural: 'shelves', kind: 'Shelf' };
const spec = { group: 'example.com', scope: 'Namespaced', names, versions: [version] };
const metadata = { name: 'shelves.example.com' };
const body = { metadata, spec };

/** The errors of a valid definition with changes to its spec or metadata. */
function causes(changes: object, meta: object = metadata): readonly string[] {
  return definitions.create({ metadata: meta, spec: { ...spec, ...changes } }).causes;
}

const labelRule =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const invalid = 'FieldValueInvalid | ';
const required = 'FieldValueRequired | ';

describe('custom resource definitions', () => {
  it('fills in names, conversion, and the version that objects are stored in', () => {
    const { object, causes: found } = definitions.create({ ...body, status: { storedVersions: ['v0'] } });
    assert.deepEqual(found, []);
    assert.deepEqual(object.spec, {
      ...spec,
      names: { ...names, singular: 'shelf', listKind: 'ShelfList' },
      conversion: { strategy: 'None' },
    });
    assert.deepEqual(object.status, {
      conditions: null,
      acceptedNames: { plural: '', kind: '' },
      storedVersions: ['v1'],
    });
    assert.equal(object.metadata.generation, 1);
    assert.equal(object.metadata.finalizers, undefined);
    assert.deepEqual(definitions.cells(object), [
      'shelves.example.com',
      'Namespaced',
      'v1(storage)',
      testTime,
      'example.com',
      'Shelf',
      '',
      false,
    ]);
  });

  it('has merge markers under the name of the vendor and the usual one', () => {
    const own = new DefinitionTester(customResourceDefinitionResource(vendorNames('example.dev'), testClock));
    const item = { type: 'object', required: ['k'], properties: { k: { type: 'string' } } };
    const schemaOf = (markers: object) => ({
      type: 'object',
      properties: {
        a: { type: 'array', items: item, ...markers },
        m: { type: 'object', 'x-example.dev-map-type': 'atomic' },
      },
    });
    const ofVersions = (openAPIV3Schema: object) => ({
      metadata,
      spec: { ...spec, versions: [{ ...version, schema: { openAPIV3Schema } }] },
    });
    const markers = { 'x-example.dev-list-map-keys': ['k'], 'x-example.dev-list-type': 'map' };
    const made = own.create(ofVersions(schemaOf(markers)));
    assert.deepEqual(made.causes, []);
    const { versions } = made.object.spec as { versions: typeof spec.versions };
    const usual = { 'x-kubernetes-list-map-keys': ['k'], 'x-kubernetes-list-type': 'map' };
    const expected = schemaOf({ ...usual, ...markers });
    Object.assign(expected.properties.m, { 'x-kubernetes-map-type': 'atomic' });
    assert.deepEqual(versions[0]?.schema.openAPIV3Schema, expected);
    assert.deepEqual(own.create(ofVersions(schemaOf({ ...markers, 'x-kubernetes-list-type': 'atomic' }))).causes, [
      'FieldValueInvalid | spec.validation.openAPIV3Schema.properties[a].x-kubernetes-list-type | Invalid value: "atomic": must be map if x-kubernetes-list-map-keys is non-empty',
      'FieldValueInvalid | spec.validation.openAPIV3Schema.properties[a].x-example.dev-list-type | Invalid value: "map": must be the same as x-kubernetes-list-type',
    ]);
    assert.deepEqual(own.create(ofVersions(schemaOf({ 'x-example.dev-list-type': 'odd' }))).causes, [
      'FieldValueNotSupported | spec.validation.openAPIV3Schema.properties[a].x-kubernetes-list-type | Unsupported value: "odd": supported values: "atomic", "set", "map"',
    ]);
  });

  it('fills in the port of a conversion webhook', () => {
    const clientConfig = { service: { namespace: 'n', name: 's' } };
    const conversion = { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1beta1', 'v1'] } };
    const { object, causes: found } = definitions.create({ ...body, spec: { ...spec, conversion } });
    assert.deepEqual(found, []);
    const { webhook } = (object.spec as { conversion: { webhook: { clientConfig: object } } }).conversion;
    assert.deepEqual(webhook.clientConfig, { service: { namespace: 'n', name: 's', port: 443 } });
  });

  const at = 'spec.versions[0]';
  const versionOf = (changes: object) => ({ versions: [{ ...version, ...changes }] });
  const conversionOf = (conversion: object) => ({ conversion });
  const webhookOf = (webhook: object) => conversionOf({ strategy: 'Webhook', webhook });
  const column = { name: 'C', type: 'string', jsonPath: '.spec.c' };
  const clientConfig = { url: 'https://x/y' };
  const nine = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
  const cases: readonly (readonly [string, object, readonly string[]])[] = [
    [
      'another group',
      { group: 'a.b' },
      [`${invalid}metadata.name | Invalid value: "shelves.example.com": must be spec.names.plural+"."+spec.group`],
    ],
    [
      'scope',
      { scope: 'Galaxy' },
      ['FieldValueNotSupported | spec.scope | Unsupported value: "Galaxy": supported values: "Cluster", "Namespaced"'],
    ],
    ['no scope', { scope: undefined }, [`${required}spec.scope | Required value`]],
    [
      'no versions',
      { versions: [] },
      [
        `${invalid}spec.versions | Invalid value: []: must have exactly one version marked as storage version`,
        `${invalid}status.storedVersions | Invalid value: null: must have at least one stored version`,
      ],
    ],
    [
      'two storage versions of one name',
      { versions: [version, version] },
      [
        `${invalid}spec.versions | Invalid value: [{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null},{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must contain unique version names`,
        `${invalid}spec.versions | Invalid value: [{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null},{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version`,
      ],
    ],
    [
      'very many versions',
      { versions: Array.from({ length: 101 }, (_, i) => ({ ...version, name: `v${i + 1}`, storage: i === 0 })) },
      ['FieldValueTooMany | spec.versions | Too many: 101: must have at most 100 items'],
    ],
    ['no schema', versionOf({ schema: undefined }), [`${required}${at}.schema.openAPIV3Schema | Required value`]],
    [
      'the name of a version',
      versionOf({ name: '1' }),
      [
        `${invalid}${at}.name | Invalid value: "1": ${labelRule}`,
        `${invalid}spec.version | Invalid value: "1": ${labelRule}`,
      ],
    ],
    [
      'a warning of a version that is not deprecated',
      versionOf({ deprecationWarning: 'w' }),
      [`${invalid}${at}.deprecationWarning | Invalid value: "w": can only be set for deprecated versions`],
    ],
    [
      'a long warning with a bell',
      versionOf({ deprecated: true, deprecationWarning: `ä\u0007${'w'.repeat(256)}` }),
      [
        `${invalid}${at}.deprecationWarning | Invalid value: "ä\\a${'w'.repeat(256)}": must be <= 256 characters long`,
        `${invalid}${at}.deprecationWarning | Invalid value: "ä\\a${'w'.repeat(256)}": must only contain printable UTF-8 characters; non-printable character found at index 2`,
      ],
    ],
    [
      'an empty warning',
      versionOf({ deprecated: true, deprecationWarning: '' }),
      [`${invalid}${at}.deprecationWarning | Invalid value: "": must not be an empty string`],
    ],
    [
      'names',
      {
        names: {
          plural: 'shelves',
          singular: 'A',
          kind: 'Shelf',
          listKind: 'Shelf',
          shortNames: ['B'],
          categories: ['_'],
        },
      },
      [
        `${invalid}spec.names.singular | Invalid value: "A": ${labelRule}`,
        `${invalid}spec.names.shortNames[0] | Invalid value: "B": ${labelRule}`,
        `${invalid}spec.names.listKind | Invalid value: "Shelf": kind and listKind may not be the same`,
        `${invalid}spec.names.categories[0] | Invalid value: "_": ${labelRule}`,
      ],
    ],
    [
      'very many short names and categories',
      {
        names: {
          ...names,
          shortNames: Array.from({ length: 1001 }, (_, i) => `s${i}`),
          categories: Array.from({ length: 1002 }, (_, i) => `c${i}`),
        },
      },
      [
        'FieldValueTooMany | spec.names.shortNames | Too many: 1001: must have at most 1000 items',
        'FieldValueTooMany | spec.names.categories | Too many: 1002: must have at most 1000 items',
      ],
    ],
    [
      'no kind',
      { names: { plural: 'shelves' } },
      [
        `${required}spec.names.singular | Required value`,
        `${required}spec.names.kind | Required value`,
        `${required}spec.names.listKind | Required value`,
      ],
    ],
    [
      'a kind',
      { names: { ...names, kind: 'She_lf' } },
      [
        `${invalid}spec.names.singular | Invalid value: "she_lf": ${labelRule}`,
        `${invalid}spec.names.kind | Invalid value: "She_lf": may have mixed case, but should otherwise match: ${labelRule}`,
        `${invalid}spec.names.listKind | Invalid value: "She_lfList": may have mixed case, but should otherwise match: ${labelRule}`,
      ],
    ],
    [
      'columns',
      versionOf({
        additionalPrinterColumns: [
          { ...column, name: '', type: 'odd', jsonPath: 'spec' },
          { ...column, type: '', format: 'f', jsonPath: '' },
        ],
      }),
      [
        `${required}spec.additionalPrinterColumns[0].name | Required value`,
        `${invalid}spec.additionalPrinterColumns[0].type | Invalid value: "odd": must be one of boolean,date,integer,number,string`,
        `${invalid}spec.additionalPrinterColumns[0].JSONPath | Invalid value: "spec": must be a simple json path starting with .`,
        `${required}spec.additionalPrinterColumns[1].type | Required value: must be one of boolean,date,integer,number,string`,
        `${invalid}spec.additionalPrinterColumns[1].format | Invalid value: "f": must be one of byte,date,date-time,double,float,int32,int64,password`,
        `${required}spec.additionalPrinterColumns[1].JSONPath | Required value`,
      ],
    ],
    [
      'columns of one version of two',
      {
        versions: [
          version,
          { ...version, name: 'v2', storage: false, additionalPrinterColumns: [{ ...column, jsonPath: 'x' }] },
        ],
      },
      [
        `${invalid}spec.versions[1].additionalPrinterColumns[0].JSONPath | Invalid value: "x": must be a simple json path starting with .`,
      ],
    ],
    [
      'paths of the scale',
      versionOf({
        subresources: {
          scale: { specReplicasPath: '.x', statusReplicasPath: 'bad', labelSelectorPath: '.metadata.x' },
        },
      }),
      [
        `${invalid}spec.subresources.scale.specReplicasPath | Invalid value: ".x": should be a json path under .spec`,
        `${invalid}spec.subresources.scale.statusReplicasPath | Invalid value: "bad": must be a simple json path starting with .`,
        `${invalid}spec.subresources.scale.labelSelectorPath | Invalid value: ".metadata.x": should be a json path under either .spec or .status`,
      ],
    ],
    [
      'no paths of the scale',
      versionOf({ subresources: { scale: {} } }),
      [
        `${required}spec.subresources.scale.specReplicasPath | Required value`,
        `${required}spec.subresources.scale.statusReplicasPath | Required value`,
      ],
    ],
    [
      'a schema that is not structural',
      versionOf({ schema: { openAPIV3Schema: { type: 'object', properties: { spec: {} } } } }),
      [
        `${required}spec.validation.openAPIV3Schema.properties[spec].type | Required value: must not be empty for specified object fields`,
      ],
    ],
    [
      'a rule that can not be compiled',
      versionOf({
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-validations': [{ rule: 'self.spec == 1' }] } },
      }),
      [
        `${invalid}spec.validation.openAPIV3Schema.x-kubernetes-validations[0].rule | Invalid value: {"Rule":"self.spec == 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field 'spec'\n | self.spec == 1\n | ....^`,
      ],
    ],
    [
      'selectable fields',
      versionOf({
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              metadata: { type: 'object', properties: { name: { type: 'string' } } },
              spec: {
                type: 'object',
                properties: { a: { type: 'string' }, list: { type: 'array', items: { type: 'string' } } },
              },
            },
          },
        },
        selectableFields: [
          '.spec.a',
          '.spec.a',
          '',
          'spec',
          '.spec.b',
          '.spec.list',
          '.metadata.name',
          ".spec['a']",
        ].map((jsonPath) => ({ jsonPath })),
      }),
      [
        'FieldValueDuplicate | spec.selectableFields[1].jsonPath | Duplicate value: ".spec.a"',
        `${required}spec.selectableFields[2].jsonPath | Required value`,
        `${invalid}spec.selectableFields[3].jsonPath | Invalid value: "spec": is an invalid path: expected [ or . but got: spec`,
        `${invalid}spec.selectableFields[4].jsonPath | Invalid value: ".spec.b": is an invalid path: does not refer to a valid field`,
        `${invalid}spec.selectableFields[5].jsonPath | Invalid value: ".spec.list": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.`,
        `${invalid}spec.selectableFields[6].jsonPath | Invalid value: ".metadata.name": must not point to fields in metadata`,
        `${invalid}spec.selectableFields[7].jsonPath | Invalid value: ".spec['a']": is an invalid path: fields in brackets are not allowed`,
      ],
    ],
    [
      'too many selectable fields',
      versionOf({
        schema: {
          openAPIV3Schema: { type: 'object', properties: Object.fromEntries(nine.map((n) => [n, { type: 'string' }])) },
        },
        selectableFields: nine.map((n) => ({ jsonPath: `.${n}` })),
      }),
      ['FieldValueTooMany | spec.selectableFields | Too many: 9: must have at most 8 items'],
    ],
    [
      'a conversion without its webhook',
      conversionOf({ strategy: 'Webhook' }),
      [
        `${required}spec.conversion.webhookClientConfig | Required value: required when strategy is set to Webhook`,
        `${required}spec.conversion.conversionReviewVersions | Required value`,
      ],
    ],
    [
      'a webhook without a conversion',
      conversionOf({ strategy: 'None', webhook: { clientConfig, conversionReviewVersions: ['v1'] } }),
      [
        'FieldValueForbidden | spec.conversion.webhookClientConfig | Forbidden: should not be set when strategy is not set to Webhook',
        'FieldValueForbidden | spec.conversion.conversionReviewVersions | Forbidden: should not be set when strategy is not set to Webhook',
      ],
    ],
    [
      'the strategy of a conversion',
      conversionOf({ strategy: 'Magic' }),
      [
        'FieldValueNotSupported | spec.conversion.strategy | Unsupported value: "Magic": supported values: "None", "Webhook"',
      ],
    ],
    [
      'versions of reviews',
      webhookOf({ clientConfig: {}, conversionReviewVersions: ['V', 'v2', 'v2'] }),
      [
        `${required}spec.conversion.webhookClientConfig | Required value: exactly one of url or service is required`,
        `${invalid}spec.conversion.conversionReviewVersions[0] | Invalid value: "V": ${labelRule}`,
        `${invalid}spec.conversion.conversionReviewVersions[2] | Invalid value: "v2": duplicate version`,
        `${invalid}spec.conversion.conversionReviewVersions | Invalid value: ["V","v2","v2"]: must include at least one of v1, v1beta1`,
      ],
    ],
    [
      'preserveUnknownFields',
      { preserveUnknownFields: true },
      [
        `${invalid}spec.preserveUnknownFields | Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead`,
      ],
    ],
  ];
  for (const [name, changes, expected] of cases) {
    it(`judges ${name}`, () => assert.deepEqual(causes(changes), expected));
  }

  for (const [group, detail] of [
    ['', 'Required value'],
    ['example', 'Invalid value: "example": should be a domain with at least one dot'],
  ]) {
    it(`judges the group '${group}'`, () => {
      const found = causes({ group }, { name: `shelves.${group}` });
      assert.ok(
        found.some((cause) => cause.endsWith(`spec.group | ${detail}`)),
        found.join('\n'),
      );
    });
  }

  const annotation = 'api-approved.kubernetes.io';
  const rule = `protected groups must have approval annotation "${annotation}"`;
  const link = 'see https://github.com/kubernetes/enhancements/pull/1111';
  const approvals: readonly (readonly [string | undefined, readonly string[]])[] = [
    [undefined, [`${required}metadata.annotations[${annotation}] | Required value: ${rule}, ${link}`]],
    [
      'yes',
      [
        `${invalid}metadata.annotations[${annotation}] | Invalid value: "yes": ${rule} with either a URL or a reason starting with "unapproved", ${link}`,
      ],
    ],
    ['unapproved, testing', []],
    ['https://example.com/review/1', []],
  ];
  for (const [value, expected] of approvals) {
    it(`judges the approval '${value}' of a protected group`, () => {
      const annotations = value === undefined ? {} : { [annotation]: value };
      assert.deepEqual(causes({ group: 'x.k8s.io' }, { name: 'shelves.x.k8s.io', annotations }), expected);
    });
  }
});

describe('changes of custom resource definitions', () => {
  const { object } = definitions.create(body);
  const second = { ...version, name: 'v2', storage: false };

  it('keeps the storage version on record when the status is emptied', () => {
    const { object: emptied, causes } = definitions.patch(object, { status: null }, 'status');
    assert.deepEqual(causes, []);
    const { conditions, storedVersions } = emptied.status as Record<string, unknown>;
    assert.deepEqual([conditions, storedVersions], [[], ['v1']]);
  });

  it('counts changes of the spec, and keeps the status', () => {
    const changed = definitions.patch(object, {
      spec: { versions: [version, second] },
      status: { storedVersions: [] },
    });
    assert.deepEqual(changed.causes, []);
    assert.equal(changed.object.metadata.generation, 2);
    assert.deepEqual(changed.object.status, object.status);
    assert.equal(definitions.patch(object, { metadata: { labels: { a: 'b' } } }).object.metadata.generation, 1);
  });

  it('records a further storage version, and lets no stored version go unnoticed', () => {
    const versions = [
      { ...version, storage: false },
      { ...second, storage: true },
    ];
    const moved = definitions.patch(object, { spec: { versions } });
    assert.deepEqual((moved.object.status as { storedVersions: string[] }).storedVersions, ['v1', 'v2']);
    const gone = definitions.patch(moved.object, { spec: { versions: [versions[1]] } });
    assert.deepEqual(gone.causes, [
      `${invalid}status.storedVersions[0] | Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions`,
    ]);
  });

  it('keeps group and plural always, and scope and kind once it is established', () => {
    const changes = { spec: { scope: 'Cluster', group: 'a.b', names: { plural: 'racks', kind: 'Rack' } } };
    const immutable = (field: string, value: string) =>
      `${invalid}${field} | Invalid value: "${value}": field is immutable`;
    const always = [immutable('spec.group', 'a.b'), immutable('spec.names.plural', 'racks')];
    assert.deepEqual(definitions.patch(object, changes).causes, always);
    const established = structuredClone(object);
    const condition = { type: 'Established', status: 'True', reason: 'R', message: '' } as const;
    setCondition(established.status as never, condition, testClock.now());
    assert.deepEqual(definitions.patch(established, changes).causes, [
      immutable('spec.scope', 'Cluster'),
      immutable('spec.names.kind', 'Rack'),
      ...always,
    ]);
  });

  it('checks the accepted names in the status', () => {
    const patch = { spec: { scope: 'Cluster' }, status: { acceptedNames: { plural: 'A' } } };
    const changed = definitions.patch(object, patch, 'status');
    assert.deepEqual(changed.causes, [`${invalid}status.acceptedNames.plural | Invalid value: "A": ${labelRule}`]);
    assert.deepEqual(changed.object.spec, object.spec);
  });

  it('waits for the clean-up when it is deleted', () => {
    const options = { dryRun: false, garbageCollector: true };
    const context = { warnings: [] } as never;
    const { kind, object: deleted } = decideDelete(context, resource, object, options, testClock);
    assert.equal(kind, 'mark');
    assert.deepEqual(deleted.metadata.finalizers, ['customresourcecleanup.apiextensions.k8s.io']);
    assert.equal(deleted.metadata.deletionTimestamp, testTime);
    assert.deepEqual((deleted.status as { conditions: unknown }).conditions, [
      {
        type: 'Terminating',
        status: 'True',
        lastTransitionTime: testTime,
        reason: 'InstanceDeletionPending',
        message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
      },
    ]);
    assert.equal((object.status as { conditions: unknown }).conditions, null);
    assert.equal(decideDelete(context, resource, deleted, options, testClock).kind, 'nothing');
  });
});
