import type { Target } from '../rules/endpoint-view.js';

/** Forwards packets or connections to one address and port. */
export interface ConnectionForwarder {
  use(targets: readonly Target[], affinitySeconds: number): void;
  stop(): Promise<void>;
}

/** The address and port of a forwarder. */
export interface ForwarderPlace {
  readonly address: string;
  readonly port: number;
}
