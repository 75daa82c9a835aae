/**
 * Signals in the order of their numbers in the runtime interface. The first one stands for the signal that the image
 * declares.
 */
const names = [
  ...['', 'ABRT', 'ALRM', 'BUS', 'CHLD', 'CLD', 'CONT', 'FPE', 'HUP', 'ILL', 'INT', 'IO', 'IOT', 'KILL', 'PIPE'],
  ...['POLL', 'PROF', 'PWR', 'QUIT', 'SEGV', 'STKFLT', 'STOP', 'SYS', 'TERM', 'TRAP', 'TSTP', 'TTIN', 'TTOU', 'URG'],
  ...['USR1', 'USR2', 'VTALRM', 'WINCH', 'XCPU', 'XFSZ', 'RTMIN'],
  ...Array.from({ length: 15 }, (_, i) => `RTMIN+${i + 1}`),
  ...Array.from({ length: 14 }, (_, i) => `RTMAX-${14 - i}`),
  'RTMAX',
];

/** The number of a signal in the runtime interface; 0 for an unknown signal. */
export function signalNumbers(name: string): number {
  return Math.max(0, names.indexOf(name.replace(/^SIG/, '')));
}
