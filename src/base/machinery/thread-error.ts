/** A thread that gave no answer: it took too long, failed (most likely for want of memory), or ended. */
export class ThreadError extends Error {
  constructor(readonly reason: 'late' | 'memory' | 'ended') {
    super(`the thread gave no answer: ${reason}`);
  }
}
