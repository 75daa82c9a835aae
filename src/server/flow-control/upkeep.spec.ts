import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { changedDangling, withDangling } from './dangling.js';
import { upkeepOf } from './upkeep.js';

const mark = 'apf.kubernetes.io/autoupdate-spec';
const spec = { type: 'Limited', limited: { nominalConcurrencyShares: 30 } };
const other = { type: 'Limited', limited: { nominalConcurrencyShares: 31 } };

describe('the upkeep of a default object', () => {
  const live = (content: object, generation: number, annotation?: string, name = 'system') => ({
    metadata: { name, generation, ...(annotation === undefined ? {} : { annotations: { [mark]: annotation } }) },
    spec: content,
  });
  const write = (annotation: string, content: object) => ({ kind: 'write', annotation, spec: content });
  const leave = { kind: 'leave' };
  const cases: readonly (readonly [string, ReturnType<typeof live>, object | undefined, boolean, object])[] = [
    ['as it should be', live(spec, 1, 'true'), spec, false, leave],
    ['ours and changed', live(other, 2, 'true'), spec, false, write('true', spec)],
    ["the operator's and changed", live(other, 2, 'false'), spec, false, leave],
    ['not marked, never changed', live(other, 1), spec, false, write('true', spec)],
    ['not marked, changed by somebody', live(other, 2), spec, false, write('false', other)],
    ['oddly marked', live(spec, 1, 'yes'), spec, false, write('true', spec)],
    ['mandatory, whatever the mark', live(other, 2, 'false'), spec, true, write('true', spec)],
    ['no default any more', live(spec, 1, 'true'), undefined, false, { kind: 'delete' }],
    ["no default, the operator's", live(spec, 1, 'false'), undefined, false, leave],
    ['no default, not marked', live(spec, 1), undefined, false, leave],
    [
      'the exempt level, with seats to lend',
      live({ type: 'Exempt', exempt: { lendablePercent: 5 } }, 2, 'true', 'exempt'),
      { type: 'Exempt', exempt: { lendablePercent: 0 } },
      true,
      leave,
    ],
  ];
  for (const [what, object, wanted, isMandatory, expected] of cases) {
    it(what, () => {
      assert.deepEqual(upkeepOf(object, wanted && { spec: wanted, isMandatory }, mark), expected);
    });
  }
});

it('the condition Dangling follows the level, and keeps its time while it says the same', () => {
  const schema = { spec: { priorityLevelConfiguration: { name: 'x' }, matchingPrecedence: 1 }, status: {} };
  const found = changedDangling(schema, () => true, 1000);
  assert.deepEqual(found, {
    type: 'Dangling',
    status: 'False',
    reason: 'Found',
    message: 'This FlowSchema references the PriorityLevelConfiguration object named "x" and it exists',
    lastTransitionTime: '1970-01-01T00:00:01Z',
  });
  const whole = { metadata: {}, ...schema, status: { conditions: [{ type: 'Mine', status: 'True' }] } };
  const marked = withDangling(whole as never, found as never);
  assert.equal(marked.status?.conditions?.length, 2);
  assert.equal(
    changedDangling(marked, () => true, 9000),
    undefined,
  );
  const lost = changedDangling(marked, () => false, 9000);
  assert.deepEqual(
    [lost?.status, lost?.reason, lost?.lastTransitionTime],
    ['True', 'NotFound', '1970-01-01T00:00:09Z'],
  );
  const renamed = { ...marked, spec: { ...marked.spec, priorityLevelConfiguration: { name: 'y' } } };
  assert.equal(changedDangling(renamed, () => true, 9000)?.lastTransitionTime, '1970-01-01T00:00:01Z');
});
