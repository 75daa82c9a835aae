import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { collectErrors, collectErrorsInSteps, type FieldError, FieldPath, required } from './field-error.js';
import { atOnce, type Steps } from './turns.js';

function* many(name: string, count: number): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  for (let i = 0; i < count; i++) {
    errors.push(required(FieldPath.of(name, String(i))));
    yield;
  }
  return errors;
}

describe('errors that are collected in steps', () => {
  it('belong to the check that reported them, whatever runs between its steps', () => {
    const first = collectErrorsInSteps(3, many('a', 10));
    const second = collectErrorsInSteps(100, many('b', 10));
    const ended: unknown[] = [];
    for (let running = [first, second]; running.length > 0; ) {
      running = running.filter((steps) => {
        const { done, value } = steps.next();
        if (done === true) ended.push(value);
        return done !== true;
      });
      // This error is created outside any check, so nothing collects it.
      required(FieldPath.of('other'));
    }
    const [a, b] = ended as { errors: FieldError[]; hasMore: boolean }[];
    assert.deepEqual([a?.errors.map(({ field }) => field), a?.hasMore], [['a.0', 'a.1', 'a.2'], true]);
    assert.deepEqual([b?.errors.length, b?.hasMore], [10, false]);
  });

  it('leave a collection around them as it was', () => {
    const { errors, hasMore } = collectErrors(2, () => {
      const own = required(FieldPath.of('own'));
      assert.equal(atOnce(collectErrorsInSteps(50, many('a', 20))).errors.length, 20);
      return [own];
    });
    assert.deepEqual([errors.length, hasMore], [1, false]);
  });

  it('let other failures pass', () => {
    const failing = function* (): Steps<FieldError[]> {
      yield;
      throw new TypeError('broken');
    };
    assert.throws(() => atOnce(collectErrorsInSteps(1, failing())), /broken/);
  });
});
