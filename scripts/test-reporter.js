/**
 * Reports the progress of one file to `test-files.js`, as lines of JSON: the start and end of each test, so that a test
 * that never ends has a name, and the counts at the end.
 */
export default async function* report(events) {
  for await (const { type, data } of events) {
    const test = `${data.name} (line ${data.line})`;
    if (type === 'test:dequeue') yield `${JSON.stringify({ begun: test })}\n`;
    else if (type === 'test:complete') yield `${JSON.stringify({ done: test })}\n`;
    else if (type === 'test:summary') {
      const { passed, failed, cancelled } = data.counts;
      yield `${JSON.stringify({ passed, failed: failed + cancelled })}\n`;
    }
  }
}
