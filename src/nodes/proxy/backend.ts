/** Makes the kernel or sockets forward packets of services. Calls of `sync` and `check` never overlap. */
export interface ProxyBackend {
  /** A service or its endpoints have changed. */
  changed(service: string): void;
  /** Something that all rules depend on has changed: the proxy's own node, or ranges of addresses. */
  refresh(): void;
  /** Applies all changes. @returns whether that succeeded */
  sync(): Promise<boolean>;
  /** Checks for changes by others while there are none to apply. @returns whether a `sync` is needed */
  check(): Promise<boolean>;
  stop(): Promise<void>;
}
