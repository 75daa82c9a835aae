/**
 * What can run as a process of its own out of the one file of the program (scripts/bundle.js), by the name of the file
 * that starts it. Each is loaded when it is called.
 */
export const processes: Readonly<Record<string, () => Promise<unknown>>> = {
  main: () => import('./main.js'),
  'tools.cli.workers.worker-main': () => import('./tools/cli/workers/worker-main.js'),
  'tools.test-clusters.host.host-main': () => import('./tools/test-clusters/host/host-main.js'),
};
