import { readFileSync } from 'node:fs';

/** Clock ticks per second in /proc of Linux, on every architecture. */
const ticks = 100;

/** CPU seconds of this process and of children that it waited for; undefined where the system doesn't provide them. */
function processorSeconds() {
  try {
    // The name of the program, in parentheses, may contain spaces.
    const fields = readFileSync('/proc/self/stat', 'latin1').split(') ').at(-1).split(' ');
    return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / ticks;
  } catch {
    return undefined;
  }
}

/**
 * Reports the progress of one file to `test-files.js`, as lines of JSON: the start and end of each test, so that a test
 * that never ends can be named, and at the end the counts and the CPU time of the file. A failing hook after all
 * tests of the file counts as a failed test: neither the counts of Node nor its exit code include it.
 */
export default async function* report(events) {
  let ownFailures = 0;
  for await (const { type, data } of events) {
    const test = `${data.name} (line ${data.line})`;
    if (type === 'test:fail' && data.nesting === 0 && data.name === data.file) ownFailures++;
    if (type === 'test:dequeue') yield `${JSON.stringify({ begun: test })}\n`;
    else if (type === 'test:complete') {
      yield `${JSON.stringify({ done: test })}\n`;
      if (data.nesting === 0 && data.details.type === 'suite') {
        yield `${JSON.stringify({ suite: data.name, seconds: data.details.duration_ms / 1000 })}\n`;
      }
    } else if (type === 'test:summary') {
      const { passed, failed, cancelled } = data.counts;
      yield `${JSON.stringify({ passed, failed: failed + cancelled + ownFailures, processorSeconds: processorSeconds() })}\n`;
    }
  }
}
