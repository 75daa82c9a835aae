import { type HeapProfiler, Session } from 'node:inspector';

/**
 * Loaded into a server under test. From the first SIGUSR2 on it samples allocations; at the next one it prints to
 * standard error how many of the allocated bytes have survived a collection of young objects, even if they are garbage
 * by now.
 */
const session = new Session();
let isSampling = false;

process.on('SIGUSR2', () => {
  if (!isSampling) {
    isSampling = true;
    session.connect();
    const options = {
      samplingInterval: 8192,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: false,
    };
    session.post('HeapProfiler.startSampling', options, () => process.stderr.write('\nsurvivors are counted\n'));
    return;
  }
  isSampling = false;
  session.post('HeapProfiler.stopSampling', (_, { profile }) => {
    session.disconnect();
    process.stderr.write(`\nsurvivors ${bytesOf(profile.head)}\n`);
  });
});

function bytesOf(node: HeapProfiler.SamplingHeapProfileNode): number {
  return node.children.reduce((sum, child) => sum + bytesOf(child), node.selfSize);
}
