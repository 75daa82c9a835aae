import type { ApiClient } from './api-client.js';
import type { Kubectl } from './kubectl.js';

/** A node agent with real containers, and functions for its tests. */
export interface AgentScene {
  readonly admin: ApiClient;
  readonly kubectl: Kubectl;
  readonly nodeName: string;
  /** Root folder of the agent. */
  readonly folder: string;
  /** Creates a pod for the node. */
  create(name: string, spec: object, metadata?: object): Promise<void>;
  /** Waits until a pod is in the expected state, and returns it. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server answered
  untilPod(name: string, what: string, look: (status: any) => boolean): Promise<any>;
  /** A container that runs a script. */
  shell(script: string): { readonly image: string; readonly command: readonly string[] };
  /** Kills the agent and starts it again. */
  restartAgent(): Promise<void>;
  /** Sends a request to the agent's server. */
  askAgent(path: string): Promise<string>;
}
