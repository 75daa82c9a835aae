/** Signals in the order of their numbers in the runtime interface, of which the first means: as the image says. */
const names = [
  ...['', 'ABRT', 'ALRM', 'BUS', 'CHLD', 'CLD', 'CONT', 'FPE', 'HUP', 'ILL', 'INT', 'IO', 'IOT', 'KILL', 'PIPE'],
  ...['POLL', 'PROF', 'PWR', 'QUIT', 'SEGV', 'STKFLT', 'STOP', 'SYS', 'TERM', 'TRAP', 'TSTP', 'TTIN', 'TTOU', 'URG'],
  ...['USR1', 'USR2', 'VTALRM', 'WINCH', 'XCPU', 'XFSZ', 'RTMIN'],
  ...Array.from({ length: 15 }, (_, i) => `RTMIN+${i + 1}`),
  ...Array.from({ length: 14 }, (_, i) => `RTMAX-${14 - i}`),
  'RTMAX',
];

/** The number of a signal in the runtime interface; 0 for one that it does not have. */
export function signalNumbers(name: string): number {
  return Math.max(0, names.indexOf(name.replace(/^SIG/, '')));
}
