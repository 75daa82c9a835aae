import { largeLimits } from '../../../src/base/machinery/large-work.js';
import { LargeRequestThread } from '../../../src/server/large/large-request-thread.js';

/**
 * Loaded into a server under test. Moves all work that the other thread can do to that thread. At SIGUSR2 it prints to
 * standard error how much work was moved.
 */
Object.assign(largeLimits, { small: 0, long: 0, structure: 0, listItem: 0, wholeList: 0 });

const counts = { answers: 0, events: 0 };
const { answer, encode } = LargeRequestThread.prototype;
LargeRequestThread.prototype.answer = function (this: LargeRequestThread, ...args) {
  counts.answers++;
  return answer.apply(this, args);
};
LargeRequestThread.prototype.encode = function (this: LargeRequestThread, ...args) {
  counts.events++;
  return encode.apply(this, args);
};
process.on('SIGUSR2', () => process.stderr.write(`\nhanded over ${JSON.stringify(counts)}\n`));
