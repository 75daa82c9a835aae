/**
 * What can run as a process of its own out of the one file of the program (scripts/bundle.js), by the name of the file
 * that starts it. Each is loaded when it is called.
 */
export const processes: Readonly<Record<string, () => Promise<unknown>>> = {
  main: () => import('./main.js'),
  'program.workers.worker-main': () => import('./program/workers/worker-main.js'),
  'test-host.host-main': () => import('./test-host/host-main.js'),
};
