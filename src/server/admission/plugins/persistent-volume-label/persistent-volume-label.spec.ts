import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { admissionAttributes } from '../../../../../test/support/admission-attributes.js';
import { vendorNames } from '../../../../base/machinery/vendor.js';
import { PersistentVolumeLabel } from './persistent-volume-label.js';

const provisioned = { 'pv.kubernetes.io/provisioned-by': 'd.example.com' };
const zone = 'topology.kubernetes.io/zone';
const region = 'topology.kubernetes.io/region';
const oldZone = 'failure-domain.beta.kubernetes.io/zone';
const oldRegion = 'failure-domain.beta.kubernetes.io/region';
const tied = (zoneKey: string, zones: string[], regionKey: string) => [
  { key: regionKey, operator: 'In', values: ['r'] },
  { key: zoneKey, operator: 'In', values: zones },
];
const disk = { key: 'disk', operator: 'Exists' };

describe('PersistentVolumeLabel', () => {
  const plugin = new PersistentVolumeLabel(vendorNames('k8s.io'));
  const admitted = (labels: Record<string, string>, annotations: object, terms?: object[]) => {
    const spec: { nodeAffinity?: { required?: { nodeSelectorTerms?: object[] } } } =
      terms === undefined ? {} : { nodeAffinity: { required: { nodeSelectorTerms: terms } } };
    const object = { metadata: { name: 'x', labels, annotations }, spec };
    plugin.admit(admissionAttributes({ resource: 'persistentvolumes', namespace: '', object }));
    return spec.nodeAffinity?.required?.nodeSelectorTerms;
  };

  const rows: readonly (readonly [string, unknown, unknown])[] = [
    [
      'ties a volume to its zone',
      admitted({ [zone]: 'a', [region]: 'r' }, provisioned),
      [{ matchExpressions: tied(zone, ['a'], region) }],
    ],
    [
      'ties it to several zones, by the older labels too',
      admitted({ [oldZone]: 'b__a__b', [oldRegion]: 'r' }, provisioned),
      [{ matchExpressions: tied(oldZone, ['a', 'b'], oldRegion) }],
    ],
    [
      'adds to every term',
      admitted({ [zone]: 'a', [region]: 'r' }, provisioned, [{ matchExpressions: [disk] }, {}]),
      [{ matchExpressions: [disk, ...tied(zone, ['a'], region)] }, { matchExpressions: tied(zone, ['a'], region) }],
    ],
    [
      'keeps the terms of a provisioner that knows the zone',
      admitted({ [zone]: 'a', [region]: 'r' }, provisioned, [{ matchExpressions: [{ ...disk, key: zone }] }]),
      [{ matchExpressions: [{ ...disk, key: zone }] }],
    ],
    ['does not believe labels of users', admitted({ [zone]: 'a', [region]: 'r' }, {}), undefined],
    ['needs both labels', admitted({ [zone]: 'a', [oldRegion]: 'r' }, provisioned), undefined],
  ];
  for (const [what, actual, expected] of rows) it(what, () => assert.deepEqual(actual, expected));

  it('refuses an empty zone', () => {
    assert.throws(
      () => admitted({ [zone]: 'a__', [region]: 'r' }, provisioned),
      /^StatusError: persistentvolumes "x" is forbidden: failed to convert label string for Zone: a__ to a Set$/,
    );
  });
});
