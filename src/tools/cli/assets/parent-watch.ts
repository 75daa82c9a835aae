const pollMs = 500;

/**
 * Calls `onGone` when the process that started this one has ended, however it did. Suites that are killed stop nothing.
 * A process that init or the like has started has no such parent.
 *
 * @returns ends the watch
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
