/** What makes the packets go where services lead. Calls of `sync` and `check` never overlap. */
export interface Backend {
  /** Something of a service has changed. */
  changed(service: string): void;
  /** Something has changed that all rules depend on: the own node, ranges of addresses. */
  refresh(): void;
  /** Brings everything up to date. @returns whether it succeeded */
  sync(): Promise<boolean>;
  /** Looks after what others may have changed, when nothing else happens. @returns whether a `sync` is needed */
  check(): Promise<boolean>;
  stop(): Promise<void>;
}
