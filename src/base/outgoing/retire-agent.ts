import type { Agent } from 'node:https';

/** Closes the idle connections of an agent now and the others as soon as they are idle. */
export function retireAgent(agent: Agent): void {
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}
