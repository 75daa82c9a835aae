import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerOf } from './answer-of.js';

const plain = { showsValues: false, hide: undefined, isForbidden: false };
const failure = (reason: string, message: string, details: object = {}) => ({
  kind: 'Status',
  status: 'Failure',
  reason,
  message,
  details,
});

describe('the recorded answer', () => {
  it('of an object is its code', () => {
    const answer = answerOf(201, { kind: 'ConfigMap' }, plain);
    assert.deepEqual(answer, { code: 201, status: '', reason: '', message: '', details: '' });
  });

  const invalid = failure('Invalid', 'data: Invalid value: "s3cret"', {
    name: 'a',
    causes: [{ field: 'data', message: 'Invalid value: "s3cret"' }],
  });
  it('has no message that quotes values where values are not recorded', () => {
    const { message, details } = answerOf(422, invalid, plain);
    assert.deepEqual([message, details], ['', '{"name":"a"}']);
    assert.equal(answerOf(403, failure('Forbidden', 'a webhook quotes s3cret'), plain).message, '');
    assert.equal(answerOf(400, failure('BadRequest', 'json: s3cret'), plain).message, '');
  });

  it('has messages that name objects and users at every level', () => {
    const missing = answerOf(404, failure('NotFound', 'pods "a" not found', { name: 'a', kind: 'pods' }), plain);
    assert.deepEqual([missing.message, missing.details], ['pods "a" not found', '{"name":"a","kind":"pods"}']);
    const refused = failure('Forbidden', 'User "bob" cannot get resource "pods"');
    assert.equal(answerOf(403, refused, { ...plain, isForbidden: true }).message, refused.message);
  });

  it('has everything where objects are recorded, but for the secrets of their kind', () => {
    const open = answerOf(422, invalid, { ...plain, showsValues: true });
    assert.deepEqual([open.message, JSON.parse(open.details)], [invalid.message, invalid.details]);
    const hide = (status: unknown) => ({ ...(status as object), message: '(hidden)', details: { name: 'a' } });
    const closed = answerOf(422, invalid, { ...plain, showsValues: true, hide });
    assert.deepEqual([closed.message, closed.details], ['(hidden)', '{"name":"a"}']);
  });
});
