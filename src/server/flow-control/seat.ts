/** The seat of one request, which counts as a current request while it holds the seat. */
export interface Seat {
  /** Releases the seat. Further calls do nothing. */
  leave(): void;
  /**
   * Called when the request waits for its client to send the body. Others may take the seat meanwhile. If the request
   * loses its seat for good, `giveUp` is called.
   */
  waitForBody(giveUp: () => void): void;
  /**
   * Called when the client must read before more of the response can be sent. Others may take the seat meanwhile;
   * {@link resume} requests it again.
   */
  waitForReader(): void;
  /**
   * Called when the request begins to wait for a server outside, such as a webhook, and when it no longer does. It keeps its
   * seat; requests of others may get an extra seat meanwhile.
   */
  setRemote(isRemote: boolean): void;
  /** Called when the body has arrived, or never will. */
  stopWaiting(): void;
  /**
   * Must be called after a wait, before the request continues. Returns undefined if the request still has its seat.
   * Otherwise resolves when it has one again, and rejects with a 429 if none becomes free.
   */
  resume(): Promise<void> | undefined;
}
