import assert from 'node:assert/strict';
import { it } from 'node:test';
import { testNames } from '../../../../../test/support/definition-tester.js';
import { OptionsError } from '../../../../base/config/options-error.js';
import { readQuotaConfiguration } from './quota-configuration.js';

const read = (value: unknown) => readQuotaConfiguration({ value, source: 'file', folder: '/' }, testNames);
const versions = [
  [`apiserver.config.${testNames.suffix}/v1`, 'ResourceQuotaConfiguration'],
  [`resourcequota.admission.${testNames.suffix}/v1beta1`, 'Configuration'],
  [`resourcequota.admission.${testNames.suffix}/v1alpha1`, 'Configuration'],
] as const;

it('the configuration of quotas names limited resources, in each version', () => {
  const limitedResources = [
    { resource: 'persistentvolumeclaims', matchContains: ['gold.storageclass'] },
    { apiGroup: 'apps', resource: 'deployments', matchScopes: [{ scopeName: 'PriorityClass', operator: 'Exists' }] },
  ];
  for (const [apiVersion, kind] of versions) {
    assert.deepEqual(read({ apiVersion, kind, limitedResources }), [
      { group: '', resource: 'persistentvolumeclaims', contains: ['gold.storageclass'], scopes: [] },
      {
        group: 'apps',
        resource: 'deployments',
        contains: [],
        scopes: [{ scopeName: 'PriorityClass', operator: 'Exists', values: [] }],
      },
    ]);
    assert.deepEqual(read({ apiVersion, kind }), []);
  }
  assert.deepEqual(readQuotaConfiguration(undefined, testNames), []);
});

it('a wrong configuration of quotas is refused with everything that is wrong', () => {
  const [apiVersion] = versions[0];
  const limitedResources = [
    { resource: '', matchContains: 'x', more: 1 },
    {
      resource: 'pods',
      matchScopes: [
        { scopeName: 'Odd', operator: 'In' },
        { scopeName: 'BestEffort', operator: '~' },
      ],
    },
    7,
  ];
  assert.throws(
    () => read({ apiVersion, kind: 'Other', limitedResources, extra: true }),
    (error) => {
      assert.ok(error instanceof OptionsError);
      assert.deepEqual(error.problems, [
        'file: the document: unknown field extra',
        'file: must be of kind ResourceQuotaConfiguration',
        'file: limitedResources[0]: unknown field more',
        'file: limitedResources[0].resource must be set',
        'file: limitedResources[0].matchContains must be a list',
        'file: limitedResources[1].matchScopes[0].scopeName must be one of BestEffort, CrossNamespacePodAffinity, NotBestEffort, NotTerminating, PriorityClass, Terminating, VolumeAttributesClass',
        'file: limitedResources[1].matchScopes[0].values must be set for In',
        'file: limitedResources[1].matchScopes[1].operator must be one of In, NotIn, Exists, DoesNotExist',
        'file: limitedResources[2] must be an object',
        'file: limitedResources[2].resource must be set',
      ]);
      return true;
    },
  );
  assert.throws(() => read({ apiVersion: 'v1' }), /apiVersion must be one of/);
});
