import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { arm, armedFault, strikes } from './faults.js';

describe('faults on purpose', () => {
  it('are not armed unless asked for', () => {
    assert.equal(armedFault, undefined);
    assert.equal(arm({}), undefined);
    assert.equal(arm({ PLINTH_TEST_FAULT: '', PLINTH_TEST_BUILD: '1' }), undefined);
    for (let i = 0; i < 10; i++) assert.equal(strikes('stale-list', 1), false);
  });

  it('are refused outside tests, and when nobody knows them', () => {
    assert.throws(() => arm({ PLINTH_TEST_FAULT: 'stale-list' }), /for tests only/);
    assert.throws(() => arm({ PLINTH_TEST_FAULT: 'stale-list', PLINTH_TEST_BUILD: 'true' }), /for tests only/);
    assert.throws(() => arm({ PLINTH_TEST_FAULT: 'no-such', PLINTH_TEST_BUILD: '1' }), /none of drop-notification/);
  });

  it('are armed with a warning in tests', async () => {
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
    assert.equal(arm({ PLINTH_TEST_FAULT: 'stale-list', PLINTH_TEST_BUILD: '1' }), 'stale-list');
    assert.match((await warned).message, /answers wrongly on purpose: stale-list/);
  });
});
