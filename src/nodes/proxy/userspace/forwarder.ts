import type { Target } from '../rules/endpoint-view.js';

/** Forwards what comes to one address and port. */
export interface Forwarder {
  use(targets: readonly Target[], affinitySeconds: number): void;
  stop(): Promise<void>;
}

/** Where a forwarder listens. */
export interface ForwarderPlace {
  readonly address: string;
  readonly port: number;
}
