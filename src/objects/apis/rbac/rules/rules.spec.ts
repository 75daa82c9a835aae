import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aggregatedRules } from './aggregate-rules.js';
import { compactPermissions, formatPermission } from './format-permissions.js';
import { findingUncovered, type Permission, uncoveredPermissions } from './rule-cover.js';
import { TooManyPermissions } from './too-many-permissions.js';

/** `verbs group resources names`, lists with commas, `core` for the group without a name; or `verbs /path,/path`. */
function permission(text: string): Permission {
  const [verbs = '', second = '', resources = '', names] = text.split(' ');
  const list = (value: string) => value.split(',').map((one) => (one === 'core' ? '' : one));
  if (second.startsWith('/') || second === '*url') {
    return { verbs: list(verbs), nonResourceURLs: second === '*url' ? ['*'] : list(second) };
  }
  const rule = { verbs: list(verbs), apiGroups: list(second), resources: list(resources) };
  return names === undefined ? rule : { ...rule, resourceNames: list(names) };
}

function missing(held: readonly string[], asked: readonly string[]): string[] {
  return compactPermissions(uncoveredPermissions(held.map(permission), asked.map(permission))).map(formatPermission);
}

describe('uncoveredPermissions', () => {
  const covered: [string[], string[]][] = [
    [['get core pods'], ['get core pods']],
    [['get,list core pods,secrets'], ['list core secrets']],
    [['get core pods', 'list core pods'], ['get,list core pods']],
    [['get core,apps pods', 'get core nodes'], ['get core pods,nodes']],
    [['* * *'], ['get,x core,y a/b,c']],
    [['* * *'], ['* * *']],
    [['get core *'], ['get core pods/log']],
    [['get core */log'], ['get core pods/log,*/log']],
    [['get core pods'], ['get core pods a']],
    [['get core pods a,b'], ['get core pods b']],
    [['get /x,/y'], ['get /y']],
    [['get /x/*'], ['get /x/y,/x/*,/x/y/*']],
    [['* *url'], ['get /anything']],
    [[], []],
  ];
  for (const [held, asked] of covered) {
    it(`${held.join(' + ') || 'nothing'} covers ${asked.join(' + ') || 'nothing'}`, () => {
      assert.deepEqual(missing(held, asked), []);
    });
  }

  const uncovered: [string[], string[], string[]][] = [
    [[], ['get core pods'], ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}']],
    [['get core pods'], ['get,list,watch core pods'], ['{APIGroups:[""], Resources:["pods"], Verbs:["list" "watch"]}']],
    [['get core pods'], ['* core pods'], ['{APIGroups:[""], Resources:["pods"], Verbs:["*"]}']],
    [['get core pods a'], ['get core pods'], ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}']],
    [
      ['get core pods a'],
      ['get core pods a,b'],
      ['{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}'],
    ],
    [['get core pods'], ['get core pods/log'], ['{APIGroups:[""], Resources:["pods/log"], Verbs:["get"]}']],
    [['get core */log'], ['get core pods'], ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}']],
    [['get core pods'], ['get apps pods'], ['{APIGroups:["apps"], Resources:["pods"], Verbs:["get"]}']],
    [['* * *'], ['get /x'], ['{NonResourceURLs:["/x"], Verbs:["get"]}']],
    [['* *url'], ['get core pods'], ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}']],
    [
      ['get /x/*'],
      ['get /x', 'post /x/y'],
      ['{NonResourceURLs:["/x"], Verbs:["get"]}', '{NonResourceURLs:["/x/y"], Verbs:["post"]}'],
    ],
    // A list of names does not cover all names, even if it holds every name.
    [
      ['get core pods', 'list core pods a'],
      ['list core pods'],
      ['{APIGroups:[""], Resources:["pods"], Verbs:["list"]}'],
    ],
  ];
  for (const [held, asked, expected] of uncovered) {
    it(`${held.join(' + ') || 'nothing'} does not cover ${asked.join(' + ')}`, () => {
      assert.deepEqual(missing(held, asked), expected);
    });
  }

  it('does not take billions of combinations apart', () => {
    const many = Array.from({ length: 1000 }, (_, i) => `x${i}`);
    const asked = { verbs: many, apiGroups: many, resources: many };
    assert.throws(() => uncoveredPermissions([permission('get core pods')], [asked]), TooManyPermissions);
    assert.deepEqual(uncoveredPermissions([permission('* * *')], [asked]), []);
    const same = Array.from({ length: 100_000 }, () => 'get');
    assert.equal(uncoveredPermissions([], [{ verbs: same, apiGroups: [''], resources: ['pods'] }]).length, 1);
  });
});

describe('aggregatedRules', () => {
  const rule = (name: string) => ({ verbs: ['get'], apiGroups: [''], resources: [name] });
  const role = (name: string, labels: Record<string, string>, ...rules: string[]) => ({
    metadata: { name, labels } as never,
    rules: rules.map(rule),
  });

  it('goes by selector, then by name, without itself and without doubles', () => {
    const own = {
      ...role('own', { a: 'x', b: 'x' }, 'own'),
      aggregationRule: { clusterRoleSelectors: ['b', 'a'].map((label) => ({ matchLabels: { [label]: 'x' } })) },
    };
    const all = [role('z', { a: 'x' }, 'p', 'q'), role('y', { b: 'x' }, 'q', 'r'), role('x', { a: 'x' }, 's'), own];
    assert.deepEqual(
      aggregatedRules(own, all)?.map(({ resources }) => resources?.[0]),
      ['q', 'r', 's', 'p'],
    );
    assert.equal(aggregatedRules(role('none', {}), all), undefined);
  });

  it('takes an empty selector for all roles', () => {
    const own = { ...role('own', {}), aggregationRule: { clusterRoleSelectors: [{}] } };
    assert.equal(aggregatedRules(own, [role('a', {}, 'p'), role('b', { c: 'd' }, 'q'), own])?.length, 2);
  });
});

it('gives up on very many rules on both sides', () => {
  const rules = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, i) => ({ verbs: ['get'], apiGroups: [''], resources: [`${prefix}${i}`] }));
  assert.equal(uncoveredPermissions(rules('a', 100), rules('b', 100)).length, 100);
  assert.throws(() => uncoveredPermissions(rules('a', 5_000), rules('b', 5_000)), TooManyPermissions);
});

it('looks long lists up, and stops on its way for others', () => {
  const long = Array.from({ length: 200_000 }, (_, i) => `r${i}`);
  const held = [{ verbs: ['get'], apiGroups: [''], resources: long }];
  const asked = Array.from({ length: 15_000 }, (_, i) => ({
    verbs: ['get'],
    apiGroups: [''],
    resources: [`r${199_999 - i}`],
  }));
  const steps = findingUncovered(held, asked);
  let count = 0;
  let next = steps.next();
  for (; next.done !== true; next = steps.next()) count++;
  assert.deepEqual(next.value, []);
  assert.ok(count > 5, `${count} steps`);
});
