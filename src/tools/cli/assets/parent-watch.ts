const pollMs = 500;

/**
 * Calls `onGone` when the process that started this one has exited, in whatever way: a test suite that is killed does
 * not stop its servers. A process that init started has no such parent.
 *
 * @returns a function that ends the watch
 */
export function watchParent(onGone: () => void): () => void {
  const parent = process.ppid;
  if (parent <= 1) return () => undefined;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onGone();
  }, pollMs);
  timer.unref();
  return () => clearInterval(timer);
}
