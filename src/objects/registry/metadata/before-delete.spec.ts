import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiObject, ObjectMeta } from '../../../base/machinery/api-object.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import type { StoredResource } from '../resource-definition.js';
import type { DeleteOptions, Strategy } from '../strategy.js';
import { checkPreconditions, decideDelete, endsWithUpdate } from './before-delete.js';

const now = Date.parse('2030-01-01T00:00:00Z');
const clock = { now: () => now };

function definition(strategy: Strategy = {}, extra: Partial<StoredResource> = {}): StoredResource {
  return { group: '', resource: 'things', kind: 'Thing', strategy, ...extra } as StoredResource;
}

function decide(meta: ObjectMeta, options: Partial<DeleteOptions> = {}, of = definition(), warnings: string[] = []) {
  const live: ApiObject = { metadata: { name: 'x', uid: 'u', ...meta } };
  const frozen = JSON.stringify(live);
  const decision = decideDelete(
    { warnings } as unknown as RequestContext,
    of,
    live,
    { dryRun: false, ...options },
    clock,
  );
  assert.equal(JSON.stringify(live), frozen, 'the live object must not be changed');
  return { kind: decision.kind, ...decision.object.metadata };
}

const graceful = (seconds: number) => definition({ gracePeriodSeconds: (_o, o) => o.gracePeriodSeconds ?? seconds });

describe('decideDelete', () => {
  it('removes an object that nothing holds', () => assert.equal(decide({}).kind, 'remove'));

  it('marks an object that finalizers hold, once', () => {
    const marked = decide({ finalizers: ['a/b'], generation: 3 });
    assert.equal(marked.kind, 'mark');
    assert.equal(marked.deletionTimestamp, '2030-01-01T00:00:00Z');
    assert.equal(marked.deletionGracePeriodSeconds, 0);
    assert.equal(marked.generation, 4);
    assert.equal(decide({ finalizers: ['a/b'], deletionTimestamp: '2029-01-01T00:00:00Z' }).kind, 'nothing');
  });

  it('adds no finalizer that nobody would remove', () => {
    for (const propagationPolicy of ['Orphan', 'Foreground', 'Background', undefined] as const) {
      assert.equal(decide({}, { propagationPolicy }).kind, 'remove', String(propagationPolicy));
    }
    for (const orphanDependents of [true, false]) assert.equal(decide({}, { orphanDependents }).kind, 'remove');
    assert.deepEqual(decide({ finalizers: ['a/b'] }, { propagationPolicy: 'Orphan' }).finalizers, ['a/b']);
  });

  it('keeps a finalizer of propagation until another policy is named', () => {
    assert.deepEqual(decide({ finalizers: ['a/b', 'orphan'] }).finalizers, ['a/b', 'orphan']);
    const cases = [
      ['orphan', { propagationPolicy: 'Orphan' }, 'mark'],
      ['orphan', { orphanDependents: true }, 'mark'],
      ['orphan', { propagationPolicy: 'Background' }, 'remove'],
      ['orphan', { propagationPolicy: 'Foreground' }, 'remove'],
      ['orphan', { orphanDependents: false }, 'remove'],
      ['foregroundDeletion', { propagationPolicy: 'Foreground' }, 'mark'],
      ['foregroundDeletion', { propagationPolicy: 'Background' }, 'remove'],
    ] as const;
    for (const [finalizer, options, kind] of cases) {
      assert.equal(decide({ finalizers: [finalizer] }, options).kind, kind, JSON.stringify([finalizer, options]));
    }
  });

  it('leaves dependents to a garbage collector where one runs', () => {
    const asked = (options: Partial<DeleteOptions>, of = definition(), finalizers?: string[]) => {
      const { kind, finalizers: after } = decide(
        finalizers === undefined ? {} : { finalizers },
        withCollector(options),
        of,
      );
      return `${kind} ${after?.join() ?? ''}`;
    };
    const withCollector = (options: Partial<DeleteOptions>) => ({ ...options, garbageCollector: true });
    assert.equal(asked({ propagationPolicy: 'Orphan' }), 'mark orphan');
    assert.equal(asked({ orphanDependents: true }), 'mark orphan');
    assert.equal(asked({ propagationPolicy: 'Foreground' }), 'mark foregroundDeletion');
    assert.equal(asked({ propagationPolicy: 'Background' }), 'remove ');
    assert.equal(asked({ orphanDependents: false }), 'remove ');
    assert.equal(asked({}), 'remove ');
    assert.equal(asked({ propagationPolicy: 'Orphan' }, definition(), ['a/b', 'orphan']), 'mark a/b,orphan');
    assert.equal(asked({ propagationPolicy: 'Orphan' }, definition(), ['foregroundDeletion']), 'mark orphan');
    assert.equal(asked({}, definition(), ['foregroundDeletion']), 'mark foregroundDeletion');
    const orphaned = definition({}, { strategyOptions: { dependents: 'orphaned' } });
    assert.equal(asked({}, orphaned), 'mark orphan');
    assert.equal(asked({}, orphaned, ['foregroundDeletion']), 'mark foregroundDeletion');
    assert.equal(asked({ propagationPolicy: 'Background' }, orphaned), 'remove ');
    assert.equal(decide({}, {}, orphaned).kind, 'remove', 'without a collector');
    const childless = definition({}, { strategyOptions: { dependents: 'none' } });
    assert.equal(asked({ propagationPolicy: 'Orphan' }, childless), 'remove ');
    assert.equal(decide({}, withCollector({ propagationPolicy: 'Foreground' }), graceful(0)).kind, 'mark');
  });

  it('warns of policies that take a garbage collector where none runs', () => {
    const warningsOf = (options: Partial<DeleteOptions>) => {
      const warnings: string[] = [];
      decide({}, options, definition(), warnings);
      return warnings;
    };
    for (const policy of [
      { propagationPolicy: 'Foreground' },
      { propagationPolicy: 'Orphan' },
      { orphanDependents: true },
    ]) {
      assert.equal(warningsOf(policy as Partial<DeleteOptions>).length, 1);
      assert.deepEqual(warningsOf({ ...(policy as Partial<DeleteOptions>), garbageCollector: true }), []);
    }
    assert.deepEqual(warningsOf({ propagationPolicy: 'Background' }), []);
    assert.deepEqual(warningsOf({}), []);
  });

  it('gives a grace period, shortens it, never lengthens it', () => {
    const first = decide({}, {}, graceful(30));
    assert.equal(first.kind, 'mark');
    assert.equal(first.deletionTimestamp, '2030-01-01T00:00:30Z');
    assert.equal(first.deletionGracePeriodSeconds, 30);
    const deleting = { deletionTimestamp: '2030-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 };
    const shorter = decide(deleting, { gracePeriodSeconds: 5 }, graceful(30));
    assert.equal(shorter.deletionTimestamp, '2030-01-01T00:00:05Z');
    assert.equal(decide(deleting, { gracePeriodSeconds: 60 }, graceful(30)).kind, 'nothing');
  });

  it('keeps the period that was granted when a later delete names none', () => {
    const { kind: _mark, ...deleting } = decide({}, { gracePeriodSeconds: 60 }, graceful(30));
    assert.equal(deleting.deletionGracePeriodSeconds, 60);
    const again = decide(deleting, {}, graceful(30));
    assert.deepEqual([again.kind, again.deletionGracePeriodSeconds], ['nothing', 60]);
    assert.equal(decide(deleting, { propagationPolicy: 'Background' }, graceful(30)).kind, 'nothing');
  });

  it('leaves finalizers alone until a grace period ends or becomes shorter', () => {
    const held = { finalizers: ['a/b', 'orphan'], deletionTimestamp: '2030-01-01T00:00:30Z' };
    const pending = { ...held, deletionGracePeriodSeconds: 30 };
    const later = (options: Partial<DeleteOptions>, meta = pending) => {
      const { kind, finalizers } = decide(meta, options, graceful(30));
      return [kind, finalizers];
    };
    for (const propagationPolicy of ['Background', 'Foreground', 'Orphan'] as const) {
      assert.deepEqual(later({ propagationPolicy }), ['nothing', ['a/b', 'orphan']]);
      assert.deepEqual(later({ propagationPolicy, gracePeriodSeconds: 60 }), ['nothing', ['a/b', 'orphan']]);
    }
    assert.deepEqual(later({ propagationPolicy: 'Background', gracePeriodSeconds: 5 }), ['mark', ['a/b']]);
    const over = { ...held, deletionGracePeriodSeconds: 0 };
    assert.deepEqual(later({ propagationPolicy: 'Background' }, over), ['mark', ['a/b']]);
  });

  it('marks an object with a grace period before it removes it, once', async () => {
    const deleting = { deletionTimestamp: '2030-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 };
    const cut = decide(deleting, { gracePeriodSeconds: 0 }, graceful(30));
    assert.deepEqual([cut.kind, cut.deletionTimestamp], ['mark-and-remove', '2030-01-01T00:00:00Z']);
    assert.equal(cut.deletionGracePeriodSeconds, 0);
    const atOnce = decide({}, {}, graceful(0));
    assert.deepEqual([atOnce.kind, atOnce.deletionTimestamp], ['mark-and-remove', '2030-01-01T00:00:00Z']);
    assert.equal(atOnce.deletionGracePeriodSeconds, 0);
    const marked = { deletionTimestamp: '2030-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 };
    for (const options of [{}, { gracePeriodSeconds: 0 }, { gracePeriodSeconds: 60 }]) {
      assert.equal(decide(marked, options, graceful(30)).kind, 'remove', JSON.stringify(options));
      assert.equal(decide({ ...marked, finalizers: ['a/b'] }, options, graceful(30)).kind, 'nothing');
    }
    assert.equal(decide({ finalizers: ['a/b'] }, {}, graceful(0)).kind, 'mark');
  });

  it('keeps an object whose kind blocks the deletion', () => {
    const blocked = decide({}, {}, definition({ deletionBlocked: () => true }));
    assert.equal(blocked.kind, 'mark');
    assert.equal(blocked.deletionGracePeriodSeconds, undefined);
  });
});

describe('checkPreconditions', () => {
  const live: ApiObject = { metadata: { name: 'x', uid: 'u', resourceVersion: '5' } };
  it('refuses another uid or version with a conflict', () => {
    const options = (preconditions: DeleteOptions['preconditions']): DeleteOptions => ({
      dryRun: false,
      ...(preconditions === undefined ? {} : { preconditions }),
    });
    checkPreconditions(definition(), live, options({ uid: 'u', resourceVersion: '5' }));
    checkPreconditions(definition(), live, options(undefined));
    assert.throws(() => checkPreconditions(definition(), live, options({ uid: 'v' })), {
      code: 409,
      reason: 'Conflict',
    });
    assert.throws(() => checkPreconditions(definition(), live, options({ resourceVersion: '4' })), { code: 409 });
    const steps = definition({ deletionBlocked: () => true });
    checkPreconditions(steps, live, options({ uid: 'u', resourceVersion: '5' }));
    assert.throws(() => checkPreconditions(steps, live, options({ uid: 'v' })), {
      code: 409,
      message: /Precondition failed: UID in precondition: v, UID in object meta: u$/,
    });
    assert.throws(() => checkPreconditions(steps, live, options({ resourceVersion: '4' })), {
      code: 409,
      message: /Precondition failed: ResourceVersion in precondition: 4, ResourceVersion in object meta: 5$/,
    });
  });
});

describe('endsWithUpdate', () => {
  const deletionTimestamp = '2030-01-01T00:00:00Z';
  it('is true only for a deleting object that nothing holds', () => {
    const of = definition();
    assert.equal(endsWithUpdate(of, { metadata: { deletionTimestamp } }), true);
    assert.equal(endsWithUpdate(of, { metadata: {} }), false);
    assert.equal(endsWithUpdate(of, { metadata: { deletionTimestamp, finalizers: ['a/b'] } }), false);
    assert.equal(endsWithUpdate(of, { metadata: { deletionTimestamp, deletionGracePeriodSeconds: 5 } }), false);
    assert.equal(
      endsWithUpdate(definition({ deletionBlocked: () => true }), { metadata: { deletionTimestamp } }),
      false,
    );
  });
});
