import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { selfSubjectRulesReviewResource } from './self-subject-rules-review.resource.js';

it('reviews of very many rules leave turns to other work, however many there are at one time', async () => {
  const resourceRules = Array.from({ length: 25_000 }, (_, i) => ({
    verbs: ['get'],
    apiGroups: [''],
    resources: ['configmaps'],
    resourceNames: i === 0 ? [] : [`m-${i}`],
  }));
  const rules = { resourceRules, nonResourceRules: [], incomplete: false, evaluationError: '' };
  const definition = selfSubjectRulesReviewResource(vendorNames('k8s.io'), { rulesFor: () => rules });
  assert.ok(definition.type === 'virtual');
  const context = { user: { name: 'alice', uid: '', groups: [], extra: {} } } as unknown as RequestContext;
  let turns = 0;
  let isOver = false;
  const others = () => {
    turns++;
    if (!isOver) setImmediate(others);
  };
  setImmediate(others);
  const review = { kind: '', apiVersion: '', metadata: {}, spec: { namespace: 'default' } };
  const reviews = Array.from({ length: 16 }, () => definition.answer(context, review, { dryRun: false }));
  const answers = await Promise.all(reviews);
  isOver = true;
  assert.ok(turns >= 16, `${turns} turns`);
  const { status } = answers[0] as unknown as { status: { resourceRules: object[] } };
  assert.equal(status.resourceRules.length, 25_000);
  assert.deepEqual(status.resourceRules[0], { verbs: ['get'], apiGroups: [''], resources: ['configmaps'] });
  assert.deepEqual(status.resourceRules[1], {
    verbs: ['get'],
    apiGroups: [''],
    resources: ['configmaps'],
    resourceNames: ['m-1'],
  });
});
