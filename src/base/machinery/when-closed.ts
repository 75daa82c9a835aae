/** A stream or response: `destroyed` once it is over. */
interface Closing {
  readonly destroyed: boolean;
  once(event: 'close', listener: () => void): unknown;
}

/**
 * Calls back once when a stream is over: at once if it is already, as its event has passed then. Whoever waits for something before
 * listening needs this, since the client may have left meanwhile.
 */
export function whenClosed(stream: Closing, callback: () => void): void {
  if (stream.destroyed) callback();
  else stream.once('close', callback);
}
