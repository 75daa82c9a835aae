/**
 * The processes that the program's bundle (scripts/bundle.js) can run, by the name of the file that starts each. Each
 * file is loaded when its function is called.
 */
export const processes: Readonly<Record<string, () => Promise<unknown>>> = {
  main: () => import('./main.js'),
  'tools.cli.workers.worker-main': () => import('./tools/cli/workers/worker-main.js'),
  'tools.test-clusters.host.host-main': () => import('./tools/test-clusters/host/host-main.js'),
};
