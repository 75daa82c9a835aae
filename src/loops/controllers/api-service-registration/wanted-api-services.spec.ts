import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testNames } from '../../../../test/support/definition-tester.js';
import { registeredGroups } from '../../../../test/support/registered-groups.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { LocalPriorities } from '../../../server/aggregation/local-priorities.js';
import {
  automanagedLabel,
  builtInApiServices,
  customApiServices,
  registrationStep,
  WantedByDefinitions,
  wantedApiService,
} from './wanted-api-services.js';

const priority = { group: 10, version: 5 };
const wanted = {
  onstart: wantedApiService('g', 'v1', priority, 'onstart'),
  true: wantedApiService('g', 'v1', priority, 'true'),
};

function live(label: string | undefined, spec: object = {}): ApiObject {
  const labels = label === undefined ? {} : { [automanagedLabel]: label };
  return { metadata: { name: 'v1.g', labels }, spec: { ...wanted.true.spec, ...spec } } as ApiObject;
}

describe('an APIService of this server', () => {
  const remote = { service: { namespace: 'n', name: 's', port: 443 } };
  const cases: readonly (readonly [
    title: string,
    live: ApiObject | undefined,
    wanted: 'onstart' | 'true' | undefined,
    corrected: boolean,
    wasThere: boolean,
    step: string,
  ])[] = [
    ['is made', undefined, 'true', false, false, 'create'],
    ['is made at the start', undefined, 'onstart', false, false, 'create'],
    ['stays away when it is deleted after the start', undefined, 'onstart', true, true, 'nothing'],
    ['comes back while its definition is there', undefined, 'true', true, true, 'create'],
    ['goes with its definition', live('true'), undefined, false, true, 'delete'],
    ['goes when the next version does not serve it', live('onstart'), undefined, false, true, 'delete'],
    ['of somebody else stays', live(undefined, remote), 'true', false, true, 'nothing'],
    ['of somebody else stays without a wish', live(undefined), undefined, false, true, 'nothing'],
    ['with a label of its own stays', live('false', remote), 'true', false, true, 'nothing'],
    ['made after the start with our label stays', live('onstart'), undefined, false, false, 'nothing'],
    ['as it should be stays', live('true'), 'true', false, true, 'nothing'],
    ['given to another server is taken back', live('true', remote), 'true', false, true, 'update'],
    ['given away after the start stays so until the next', live('onstart', remote), 'onstart', true, true, 'nothing'],
    ['given away is taken back at the next start', live('onstart', remote), 'onstart', false, true, 'update'],
    ['with another priority is corrected', live('true', { versionPriority: 9 }), 'true', false, true, 'update'],
  ];
  for (const [title, object, wish, corrected, wasThere, step] of cases) {
    it(title, () => assert.equal(registrationStep(object, wish && wanted[wish], corrected, wasThere), step));
  }
});

it('an APIService is wanted as long as one of its definitions is there', () => {
  const one = (version: string) => wantedApiService('g', version, priority, 'true');
  const all = new WantedByDefinitions();
  assert.deepEqual([...all.set('a.g', [one('v1'), one('v2')])], ['v1.g', 'v2.g']);
  assert.deepEqual([...all.set('b.g', [one('v1')])], ['v1.g']);
  assert.deepEqual([...all.set('a.g', [one('v2'), one('v3')])].toSorted(), ['v1.g', 'v2.g', 'v3.g']);
  assert.deepEqual([...all.names()].toSorted(), ['v1.g', 'v2.g', 'v3.g']);
  all.set('b.g', []);
  assert.equal(all.find('v1.g'), undefined);
  assert.deepEqual(all.find('v2.g'), one('v2'));
  assert.deepEqual(all.definitions(), ['a.g']);
  all.set('a.g', []);
  assert.deepEqual([[...all.names()], all.definitions()], [[], []]);
});

it('every built-in group version has a place of its own', async () => {
  const { registry } = await registeredGroups();
  const priorities = new LocalPriorities(testNames);
  // An extension server for metrics brings an APIService of its own, which would conflict with a built-in one.
  const withoutPlace = `metrics.${testNames.suffix}`;
  const unknown = registry
    .groups()
    .filter(({ group }) => group !== withoutPlace)
    .flatMap(({ group, versions }) => versions.map((version) => [group, version] as const))
    .filter(([group, version]) => !priorities.names(group, version));
  assert.deepEqual(unknown, []);
  const names = builtInApiServices(registry.groups(), priorities).map(({ name }) => name);
  assert.ok(names.includes('v1.') && names.includes('v1.apps') && names.includes('v1.rbac.authorization.k8s.io'));
  assert.ok(!names.some((name) => name.endsWith('.apiregistration.k8s.io')));
});

it('a definition wants one for each version that it serves', () => {
  const definition = {
    metadata: { name: 'a.g.example' },
    spec: {
      group: 'g.example',
      versions: [
        { name: 'v1', served: true },
        { name: 'v1beta1', served: false },
      ],
    },
  } as unknown as ApiObject;
  assert.deepEqual(customApiServices(definition), [
    {
      name: 'v1.g.example',
      automanaged: 'true',
      spec: { group: 'g.example', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 },
    },
  ]);
});
