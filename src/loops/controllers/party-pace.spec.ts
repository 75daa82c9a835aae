import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PartyPace } from './party-pace.js';

function setUp(utilization = 1) {
  let now = 0;
  const pace = new PartyPace(
    () => now,
    () => utilization,
  );
  const work = (party: string, ms: number) => {
    const end = pace.begin(party);
    now += ms;
    end();
  };
  const pass = (ms: number) => {
    now += ms;
  };
  return { pace, work, pass };
}

describe('PartyPace', () => {
  it('makes a party wait that has used more than a fifth of the last second', () => {
    const { pace, work, pass } = setUp();
    work('small', 1);
    work('large', 190);
    assert.equal(pace.pauseMs('large'), 0);
    work('large', 50);
    const pauseMs = pace.pauseMs('large');
    assert.ok(pauseMs > 50 && pauseMs < 250, String(pauseMs));
    assert.equal(pace.pauseMs('small'), 0);
    pass(pauseMs);
    work('small', 0);
    assert.equal(pace.pauseMs('large'), 0);
  });

  it('gives a party a fifth of a busy thread, and the others the rest', () => {
    const { pace, work, pass } = setUp();
    let used = 0;
    for (let elapsed = 0; elapsed < 20_000; ) {
      const pauseMs = pace.pauseMs('large');
      work('small', 1);
      elapsed += 1;
      if (pauseMs === 0) {
        work('large', 15);
        used += 15;
        elapsed += 15;
      } else {
        pass(1);
        elapsed += 1;
      }
    }
    assert.ok(used > 3000 && used < 5500, String(used));
  });

  it('lets a party work that is alone, while the thread is idle, or on keys of the whole cluster', () => {
    const alone = setUp();
    alone.work('large', 400);
    alone.work('', 400);
    assert.equal(alone.pace.pauseMs('large'), 0);
    assert.equal(alone.pace.pauseMs(''), 0);
    const idle = setUp(0.5);
    idle.work('small', 1);
    idle.work('large', 400);
    assert.equal(idle.pace.pauseMs('large'), 0);
    const past = setUp();
    past.work('small', 1);
    past.pass(3000);
    past.work('large', 400);
    assert.equal(past.pace.pauseMs('large'), 0);
  });

  it('waits for a limited time, however much was used', () => {
    const { pace, work } = setUp();
    work('small', 1);
    work('large', 900);
    work('small', 1);
    assert.equal(pace.pauseMs('large'), 500);
  });

  it('says whether a party would hold up others: only on a busy thread, and while others have work', () => {
    const { pace, work, pass } = setUp();
    work('large', 1);
    assert.equal(pace.isContended('large'), false);
    work('small', 1);
    assert.equal(pace.isContended('large'), true);
    assert.equal(pace.isContended('another'), true);
    pass(5000);
    assert.equal(pace.isContended('large'), false);
    const { pace: idle, work: rarely } = setUp(0.5);
    rarely('large', 1);
    rarely('small', 1);
    assert.equal(idle.isContended('large'), false);
  });
});
