import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertCauses } from '../../../../test/support/causes.js';
import { testRanges } from '../../../../test/support/definition-tester.js';
import { serviceTester } from '../../../../test/support/service-tester.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';

const tester = serviceTester(testRanges);
/** A cluster with addresses of both families. */
const dual = serviceTester({ ...testRanges, serviceClusterIpRange: '10.0.0.0/16,fd00:96::/112' });
const service = (spec: object) => ({ spec: { ports: [{ port: 80 }], ...spec } });
const specOf = (object: ApiObject) => object.spec as Record<string, unknown>;

describe('services of two families', () => {
  const families = (spec: object, by = dual) => {
    const { object, causes } = by.create(service(spec));
    assertCauses(causes, []);
    return [specOf(object).ipFamilyPolicy, specOf(object).ipFamilies];
  };
  const both = { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv4', 'IPv6'] };
  const two = ['10.0.0.9', 'fd00:96::9'];
  const four = { clusterIP: two[0], clusterIPs: two.slice(0, 1) };
  /** A stored service with both addresses. */
  const storedDual = () => {
    const { object, causes } = dual.create(service({ ...both, clusterIP: two[0], clusterIPs: two }));
    assertCauses(causes, []);
    return object;
  };

  it('have one of them unless they ask for more, and the order that they ask for', () => {
    const cases: [object, unknown][] = [
      [{}, ['SingleStack', ['IPv4']]],
      [{ ipFamilies: ['IPv6'] }, ['SingleStack', ['IPv6']]],
      [{ clusterIP: 'fd00:96::5' }, ['SingleStack', ['IPv6']]],
      [{ ipFamilyPolicy: 'PreferDualStack' }, ['PreferDualStack', ['IPv4', 'IPv6']]],
      [{ ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6'] }, ['RequireDualStack', ['IPv6', 'IPv4']]],
      [
        { ipFamilyPolicy: 'PreferDualStack', clusterIPs: ['fd00:96::5'], clusterIP: 'fd00:96::5' },
        ['PreferDualStack', ['IPv6', 'IPv4']],
      ],
      [
        { clusterIP: 'None', selector: { a: 'b' }, ipFamilyPolicy: 'PreferDualStack' },
        ['PreferDualStack', ['IPv4', 'IPv6']],
      ],
      [{ clusterIP: 'None', selector: { a: 'b' } }, ['SingleStack', ['IPv4']]],
    ];
    for (const [spec, expected] of cases) assert.deepEqual(families(spec), expected, JSON.stringify(spec));
    assert.deepEqual(families({ ipFamilyPolicy: 'PreferDualStack' }, tester), ['PreferDualStack', ['IPv4']]);
  });

  it('need a policy that allows both', () => {
    const rule = "must be 'RequireDualStack' or 'PreferDualStack' when multiple";
    assertCauses(dual.create(service({ ipFamilies: ['IPv4', 'IPv6'] })).causes, [
      `Invalid | spec.ipFamilyPolicy | Invalid value: "SingleStack": ${rule} IP families are specified`,
    ]);
    assertCauses(dual.create(service({ clusterIP: two[0], clusterIPs: two })).causes, [
      `Invalid | spec.ipFamilyPolicy | Invalid value: "SingleStack": ${rule} cluster IPs are specified`,
    ]);
  });

  it('get and lose the second one by the policy', () => {
    const single = dual.create(service(four)).object;
    const more = dual.patch(single, { spec: { ipFamilyPolicy: 'PreferDualStack' } });
    assertCauses(more.causes, []);
    assert.deepEqual(specOf(more.object).ipFamilies, ['IPv4', 'IPv6']);
    const less = dual.patch(storedDual(), { spec: { ipFamilyPolicy: 'SingleStack' } });
    assertCauses(less.causes, []);
    assert.deepEqual([specOf(less.object).ipFamilies, specOf(less.object).clusterIPs], [['IPv4'], [two[0]]]);
  });

  it('lose it no other way, and keep the first one', () => {
    const must =
      'Invalid | spec.ipFamilyPolicy | Invalid value: "PreferDualStack": must be \'SingleStack\' to release the secondary';
    const refused = (spec: object) => dual.patch(storedDual(), { spec }).causes;
    assertCauses(refused({ clusterIPs: [two[0]] }), [`${must} cluster IP`]);
    assertCauses(refused({ ipFamilies: ['IPv4'] }), [`${must} IP family`]);
    const fixed = 'may not change once set';
    assertCauses(refused({ clusterIPs: [two[0], 'fd00:96::8'] }), [
      `Invalid | spec.clusterIPs[1] | Invalid value: ["10.0.0.9","fd00:96::8"]: ${fixed}`,
    ]);
    const turned = { clusterIP: two[1], clusterIPs: [...two].reverse(), ipFamilies: ['IPv6', 'IPv4'] };
    const list = 'Invalid value: ["fd00:96::9","10.0.0.9"]';
    const names = 'Invalid | spec.ipFamilies[0] | Invalid value: ["IPv6","IPv4"]';
    assertCauses(refused(turned), [
      ...[0, 1].map((i) => `Invalid | spec.clusterIPs[${i}] | ${list}: ${fixed}`),
      `${names}: ${fixed}`,
    ]);
  });

  it('that prefer two stay with one when the cluster gets a second range', () => {
    const { object } = tester.create(service({ ...four, ipFamilyPolicy: 'PreferDualStack' }));
    const touched = dual.patch(object, { metadata: { labels: { a: 'b' } } });
    assertCauses(touched.causes, []);
    assert.deepEqual(specOf(touched.object).ipFamilies, ['IPv4']);
    const asked = dual.patch(object, { spec: { ipFamilyPolicy: 'RequireDualStack' } });
    assert.deepEqual(specOf(asked.object).ipFamilies, ['IPv4', 'IPv6']);
  });
});
