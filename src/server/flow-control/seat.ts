/** The place of one request among those under way. */
export interface Seat {
  /** Gives the place up. Further calls do nothing. */
  leave(): void;
  /**
   * Called when the request waits for its client to send the body. Others may take the place meanwhile. If the request
   * loses its place for good, `giveUp` is called.
   */
  waitForBody(giveUp: () => void): void;
  /**
   * Called when the client must read before more of the answer can be sent. Others may take the place meanwhile; {@link
   * resume} requests it again.
   */
  waitForReader(): void;
  /** Called when the body has arrived, or never will. */
  stopWaiting(): void;
  /**
   * Must be called after a wait, before the request continues. Returns undefined if the request still has its place.
   * Otherwise resolves when it has one again, and rejects with a 429 if there is none.
   */
  resume(): Promise<void> | undefined;
}
