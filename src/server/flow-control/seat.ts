/** The place of one request among those under way. */
export interface Seat {
  /** Gives the place up. Further calls do nothing. */
  leave(): void;
  /**
   * The request waits for its client, which has to send its body. Others may need the place meanwhile. If that costs
   * the request its place for good, `giveUp` is called.
   */
  waitForBody(giveUp: () => void): void;
  /**
   * The client has to read before more of the answer can be sent. Others may get the place meanwhile; {@link resume}
   * requests it again.
   */
  waitForReader(): void;
  /** The body has arrived, or never will. */
  stopWaiting(): void;
  /**
   * Call it after a wait, before the request goes on. Undefined if the request still has its place. Otherwise resolves
   * when it has one again, and rejects with a 429 if there is none.
   */
  resume(): Promise<void> | undefined;
}
