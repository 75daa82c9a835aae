import { largeLimits } from '../../../src/base/machinery/large-work.js';
import { LargeLane } from '../../../src/server/large/large-lane.js';

/**
 * Loaded into a server under test. All work that its other thread can do goes there. At SIGUSR2 it prints to standard
 * error how much went there.
 */
Object.assign(largeLimits, { small: 0, long: 0, structure: 0, listItem: 0, wholeList: 0 });

const counts = { answers: 0, events: 0 };
const { answer, encode } = LargeLane.prototype;
LargeLane.prototype.answer = function (this: LargeLane, ...args) {
  counts.answers++;
  return answer.apply(this, args);
};
LargeLane.prototype.encode = function (this: LargeLane, ...args) {
  counts.events++;
  return encode.apply(this, args);
};
process.on('SIGUSR2', () => process.stderr.write(`\nhanded over ${JSON.stringify(counts)}\n`));
