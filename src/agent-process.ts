/**
 * The node agent as a process out of a file of its own (scripts/bundle.js), which has no code of servers: an agent runs on
 * every machine, and shall leave the memory to the pods.
 */
export const processes: Readonly<Record<string, () => Promise<unknown>>> = {
  main: () => import('./agent-main.js'),
};
