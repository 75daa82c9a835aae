import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FlowHasher } from './flow-hasher.js';
import { SeveralFlows } from './several-flows.js';

it('knows of several flows for a second after the last change from one to another', () => {
  const hasher = new FlowHasher();
  const [one, other] = [hasher.of('schema', 'one'), hasher.of('schema', 'other')];
  const flows = new SeveralFlows();
  assert.equal(flows.at(0), false);
  for (let now = 0; now < 5000; now += 10) flows.saw(one, now);
  assert.equal(flows.at(5000), false);
  flows.saw(other, 5000);
  assert.equal(flows.at(5999), true);
  assert.equal(flows.at(6000), false);
  flows.saw(one, 7000);
  assert.equal(flows.at(7000), true);
});
