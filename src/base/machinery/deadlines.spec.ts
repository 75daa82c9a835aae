import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { Deadlines } from './deadlines.js';

describe('Deadlines', () => {
  let now = 0;
  const pass = (ms: number) => {
    now += ms;
    mock.timers.tick(ms);
  };
  beforeEach(() => {
    now = 0;
    mock.timers.enable({ apis: ['setTimeout'] });
    mock.method(performance, 'now', () => now);
  });
  afterEach(() => mock.reset());

  it('expires what has not ended in time, in any order of limits', () => {
    const deadlines = new Deadlines();
    const expired: string[] = [];
    deadlines.begin(100, () => expired.push('long'));
    const ended = deadlines.begin(50, () => expired.push('ended'));
    deadlines.begin(20, () => expired.push('short'));
    pass(19);
    assert.deepEqual(expired, []);
    pass(1);
    assert.deepEqual(expired, ['short']);
    deadlines.end(ended);
    pass(79);
    assert.deepEqual(expired, ['short']);
    pass(1);
    assert.deepEqual(expired, ['short', 'long']);
  });

  it('expires work that begins while the timer of earlier work runs', () => {
    const deadlines = new Deadlines();
    const expired: number[] = [];
    deadlines.end(deadlines.begin(100, () => expired.push(0)));
    pass(60);
    deadlines.begin(100, () => expired.push(now));
    pass(40);
    assert.deepEqual(expired, []);
    pass(60);
    assert.deepEqual(expired, [160]);
  });

  it('goes on with the others when work that expires ends or begins some', () => {
    const deadlines = new Deadlines();
    const expired: string[] = [];
    const other = deadlines.begin(30, () => expired.push('other'));
    deadlines.begin(10, () => {
      expired.push('first');
      deadlines.end(other);
      deadlines.begin(5, () => expired.push('third'));
    });
    deadlines.begin(40, () => expired.push('last'));
    for (let i = 0; i < 8; i++) pass(5);
    assert.deepEqual(expired, ['first', 'third', 'last']);
  });

  it('expires nothing once it has stopped', () => {
    const deadlines = new Deadlines();
    deadlines.begin(10, () => assert.fail('it has stopped'));
    deadlines.stop();
    pass(20);
    let isExpired = false;
    deadlines.begin(10, () => {
      isExpired = true;
    });
    pass(10);
    assert.ok(isExpired);
  });
});
