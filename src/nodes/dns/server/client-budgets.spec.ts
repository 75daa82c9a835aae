import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ClientBudgets } from './client-budgets.js';

it('long answers count as several queries of their client', () => {
  const budgets = new ClientBudgets({ perSecond: 100, mostClients: 10, elapsed: () => 1000 });
  const most = (client: string, bytes: number) => {
    let count = 0;
    for (; budgets.take(client); count++) budgets.answered(client, bytes);
    return count;
  };
  assert.equal(most('short', 100), 100);
  assert.equal(most('long', 5120), 10);
  assert.equal(most('other', 511), 100);
});
