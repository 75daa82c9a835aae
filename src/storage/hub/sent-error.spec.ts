import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deserialize, serialize } from 'node:v8';
import pg from 'pg';
import { sqlState } from '../../base/database/sql-state.js';
import { MigrationError } from '../postgres/migration-error.js';
import { failureKind, reasonForClients, unavailable } from '../postgres/postgres-errors.js';
import { StorageError } from '../storage-error.js';
import { isHopeless, isNotReadyYet } from '../until-ready.js';
import { receiveError, sendError } from './sent-error.js';

/** The error as another process receives it. */
const sent = (error: unknown): Error => receiveError(deserialize(serialize(sendError(error))));

function databaseError(code: string, message = 'no'): pg.DatabaseError {
  const error = new pg.DatabaseError(message, message.length, 'error');
  error.code = code;
  error.severity = 'ERROR';
  return error;
}

describe('an error between processes', () => {
  it('of storage keeps its code, key, version, reason and cause', () => {
    const key = { resource: 'things', namespace: 'default', name: 'a' };
    const cause = databaseError('25006', 'cannot execute in a read-only transaction');
    const got = sent(new StorageError('Unavailable', 'later', { key, resourceVersion: 7n, reason: 'because', cause }));
    assert.ok(got instanceof StorageError);
    const { code, message, resourceVersion, reason } = got;
    assert.deepEqual(
      { code, message, key: got.key, resourceVersion, reason },
      { code: 'Unavailable', message: 'later', key, resourceVersion: 7n, reason: 'because' },
    );
    assert.equal(sqlState(got.cause), '25006');
    assert.equal((got.cause as Error).message, cause.message);
  });

  it('of the database is judged as it was', () => {
    for (const code of ['40001', '22P02', '57P01', '25006', '28P01', '3D000', '42501', '53100', 'PL003']) {
      const error = databaseError(code);
      assert.equal(failureKind(sent(error)), failureKind(error), code);
      assert.equal(reasonForClients(sent(error)), reasonForClients(error), code);
      const wrapped = unavailable(error, 'no');
      assert.equal(isHopeless(sent(wrapped)), isHopeless(wrapped), code);
      assert.equal(isNotReadyYet(sent(wrapped)), isNotReadyYet(wrapped), code);
    }
  });

  it('of a connection keeps what the system said, at each address', () => {
    const attempts = ['connect ECONNREFUSED ::1:5432', 'connect ECONNREFUSED 127.0.0.1:5432'].map((text) =>
      Object.assign(new Error(text), { code: 'ECONNREFUSED' }),
    );
    const error = unavailable(Object.assign(new AggregateError(attempts), { code: 'ECONNREFUSED' }), 'no answer');
    assert.equal(error.message, 'no answer: connect ECONNREFUSED ::1:5432; connect ECONNREFUSED 127.0.0.1:5432');
    const cause = sent(error).cause as Error & { code?: string };
    assert.equal(cause.message, 'connect ECONNREFUSED ::1:5432; connect ECONNREFUSED 127.0.0.1:5432');
    assert.equal(cause.code, 'ECONNREFUSED');
  });

  it('of a migration stays one, and whatever else is thrown becomes an error', () => {
    assert.ok(sent(new MigrationError('schema 3')) instanceof MigrationError);
    assert.equal(sent('text').message, 'text');
    const loop = new Error('round');
    loop.cause = loop;
    assert.equal(sent(loop).message, 'round');
  });
});
