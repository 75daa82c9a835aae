/**
 * Processor time of this thread since its start, in milliseconds. Tests that bound work use it instead of a clock, since
 * other work on the machine does not count.
 */
export function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
