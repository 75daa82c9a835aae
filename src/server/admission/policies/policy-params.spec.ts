import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { admissionAttributes } from '../../../../test/support/admission-attributes.js';
import { admissionParts } from '../../../../test/support/admission-parts.js';
import { machinePace, processorMs } from '../../../../test/support/processor-time.js';
import { registeredGroups } from '../../../../test/support/registered-groups.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { kind } from '../../../base/machinery/schema/index.js';
import { defineResource } from '../../../objects/registry/resource-definition.js';
import { ResourceRegistry } from '../../../objects/registry/resource-registry.js';
import { MutatingAdmissionPolicyPlugin } from '../plugins/mutating-admission-policy/mutating-admission-policy-plugin.js';
import { ValidatingAdmissionPolicyPlugin } from '../plugins/validating-admission-policy/validating-admission-policy-plugin.js';
import { type FoundParams, PolicyParams } from './policy-params.js';

const group = 'admissionregistration.k8s.io';
let registry: ResourceRegistry;

before(async () => {
  ({ registry } = await registeredGroups());
});

const matchConstraints = {
  matchPolicy: 'Equivalent',
  resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['secrets'], scope: '*' }],
};
const common = { failurePolicy: 'Fail', paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, matchConstraints };
const mutation = {
  patchType: 'JSONPatch',
  jsonPatch: { expression: 'params.data.k == "-" ? [JSONPatch{op: "test", path: "/a"}] : []' },
};

/** Dependencies with one policy whose binding takes every config map of the namespace as a parameter. */
function partsWith(resource: string, more: object, params: readonly ApiObject[]) {
  const policies = { p: { metadata: {}, spec: { ...common, ...more } } };
  const paramRef = { selector: {}, parameterNotFoundAction: 'Deny' };
  const bindings = { b: { metadata: {}, spec: { policyName: 'p', paramRef, validationActions: ['Deny'] } } };
  const known = { [`${resource}.${group}`]: policies, [`${resource.replace(/ies$/, 'ybindings')}.${group}`]: bindings };
  const lister = { get: () => undefined, inNamespace: () => params.values(), all: () => params.values(), lostForMs: 0 };
  return {
    ...admissionParts({ known }),
    registry,
    authorizer: { authorize: () => ({ decision: 'deny', reason: '' }) as const },
    laterListers: { later: () => ({ lister, filled: Promise.resolve(), stop: () => {} }) as never },
    metrics: { registry: new Registry() } as never,
  };
}

const configMaps = (count: number, name: (i: number) => string): ApiObject[] =>
  Array.from({ length: count }, (_, i) => {
    const data = Object.fromEntries(Array.from({ length: 20 }, (__, j) => [`k${j}`, `${i}`]));
    return {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: name(i), namespace: 'n' },
      data: { ...data, k: 'v' },
    };
  });

const request = () =>
  admissionAttributes({
    resource: 'secrets',
    kind: { group: '', version: 'v1', kind: 'Secret' },
    object: { metadata: { name: 's' } },
  });

/** The longest time for which the work holds the event loop. */
async function longestHold(work: () => Promise<unknown> | undefined): Promise<number> {
  let isDone = false;
  let longest = 0;
  const watching = (async () => {
    for (let began = processorMs(); !isDone; began = processorMs()) {
      await nextRound();
      longest = Math.max(longest, processorMs() - began);
    }
  })();
  try {
    await work();
  } finally {
    isDone = true;
    await watching;
  }
  return longest;
}

const validations = [{ expression: 'params.data.k == "v"' }];

for (const [name, work] of [
  [
    'a validating policy',
    (params: readonly ApiObject[]) => {
      const plugin = new ValidatingAdmissionPolicyPlugin(
        partsWith('validatingadmissionpolicies', { validations }, params),
      );
      return async () => plugin.validate(request());
    },
  ],
  [
    'a mutating policy',
    (params: readonly ApiObject[]) => {
      const more = { reinvocationPolicy: 'Never', mutations: [mutation] };
      const plugin = new MutatingAdmissionPolicyPlugin(partsWith('mutatingadmissionpolicies', more, params));
      return async () => plugin.admit(request());
    },
  ],
] as const) {
  it(`${name} with very many parameters lets other work have its turn`, async () => {
    await work(configMaps(50, (i) => `warm-${i}`))();
    const hold = await longestHold(work(configMaps(20_000, (i) => `map-${(i * 7919) % 20_000}`)));
    assert.ok(hold < 60 * machinePace(), `${hold.toFixed(1)} ms`);
  });
}

it('evaluates all selected parameters in the order of their names', async () => {
  const params = configMaps(3, (i) => ['c', 'a', 'b'][i] ?? '');
  const expressions = [{ expression: 'false', messageExpression: 'params.metadata.name' }];
  const plugin = new ValidatingAdmissionPolicyPlugin(
    partsWith('validatingadmissionpolicies', { validations: expressions }, params),
  );
  await assert.rejects(async () => plugin.validate(request()), /denied request: a$/);
});

it('drops the parameters of kinds that changed, went, or were not needed for long', async () => {
  const own = new ResourceRegistry();
  const define = (kindName: string, shortNames: string[] = []) =>
    defineResource({
      group: 'g.example',
      resource: `${kindName.toLowerCase()}s`,
      singular: kindName.toLowerCase(),
      kind: kindName,
      namespaced: true,
      shortNames,
      versions: [{ version: 'v1', type: kind({ group: 'g.example', version: 'v1', kind: kindName }, {}) }],
      strategy: {},
    });
  const [first, second, changed] = [define('First'), define('Second'), define('First', ['f'])];
  own.register(first);
  own.register(second);
  const log: string[] = [];
  const lister = { get: (_namespace: string, name: string) => ({ metadata: { name } }) };
  const later = ({ resource }: { resource: string }) => {
    log.push(`start ${resource}`);
    return { lister, filled: nextRound(), stop: () => log.push(`stop ${resource}`) } as never;
  };
  const countOf = (found: FoundParams) => ('params' in found ? found.params.length : found.fault);
  let now = 0;
  const params = new PolicyParams({ later }, own, { read: async () => undefined }, () => now);
  const find = (kindName: string) => params.find({ apiVersion: 'g.example/v1', kind: kindName }, { name: 'p' }, 'n');
  assert.equal(countOf(await find('First')), 1);
  await find('First');
  assert.deepEqual(log.splice(0), ['start firsts']);
  // The kind changes while the lister is being filled: the request reads its objects from another lister.
  own.replace(first, changed);
  assert.deepEqual(log.splice(0), ['stop firsts']);
  const finding = find('First');
  own.replace(changed, first);
  assert.equal(countOf(await finding), 1);
  assert.deepEqual(log.splice(0), ['start firsts', 'stop firsts', 'start firsts']);
  now = 11 * 60_000;
  await find('Second');
  assert.deepEqual(log.splice(0), ['stop firsts', 'start seconds']);
  own.unregister(second);
  assert.deepEqual(log.splice(0), ['stop seconds']);
  assert.match(String(((await find('Second')) as { fault: string }).fault), /failed to find resource/);
  assert.deepEqual(log, []);
});
