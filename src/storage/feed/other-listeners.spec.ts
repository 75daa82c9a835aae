import assert from 'node:assert/strict';
import { it } from 'node:test';
import { OtherListeners } from './other-listeners.js';

it('nobody is alone who has not listened for long, or has heard another one', () => {
  let now = 0;
  const [one, other] = [new OtherListeners(100, () => now), new OtherListeners(100, () => now)];
  assert.equal(one.mayExist, true);
  now = 1000;
  assert.equal(one.mayExist, true);
  one.connected();
  now += 99;
  assert.equal(one.mayExist, true);
  now += 1;
  assert.equal(one.mayExist, false);
  one.hear(other.announcement);
  assert.equal(one.mayExist, true);
  now += 100;
  assert.equal(one.mayExist, false);
  one.disconnected();
  assert.equal(one.mayExist, true);
});

it('its own words and those of strangers are not those of another one', () => {
  let now = 0;
  const one = new OtherListeners(100, () => now);
  one.connected();
  now += 100;
  for (const payload of [one.announcement, '', 'listening', 'listening to you', `${one.announcement} `])
    one.hear(payload);
  assert.equal(one.mayExist, false);
});

it('without a connection, what was heard last proves nothing', () => {
  let now = 0;
  const one = new OtherListeners(100, () => now);
  one.hear(new OtherListeners(100).announcement);
  assert.equal(one.mayExist, true);
  one.connected();
  now += 100;
  assert.equal(one.mayExist, false);
});
