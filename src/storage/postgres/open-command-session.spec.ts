import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openCommandSession } from './open-command-session.js';

it('openCommandSession says why a database can not be reached, and what helps', async () => {
  await assert.rejects(openCommandSession('postgresql://a:b@127.0.0.1:1/x', 'test'), {
    name: 'MigrationError',
    message:
      "the database can't be reached: connect ECONNREFUSED 127.0.0.1:1 " +
      '(start the database, open the way to its port, or correct --database-url)',
  });
  await assert.rejects(openCommandSession('postgresql://a:b@nowhere.invalid:1/x', 'test'), /correct the host in/);
});
