import { tooManyRequestsError } from '../../../base/machinery/status-error.js';

/** Maximum number of concurrent connections through this server to nodes, pods and services. */
export const streamSeats = { all: 4096, ofUser: 2048 } as const;

/** Counts long-running connections: each takes two sockets, and one user must not use up the sockets for all others. */
export class StreamSeats {
  private taken = 0;
  private readonly byUser = new Map<string, number>();

  constructor(private readonly limits: { readonly all: number; readonly ofUser: number } = streamSeats) {}

  /** Takes a seat, or throws a 429. Call the returned function once to give the seat back. */
  enter(user: string): () => void {
    const own = this.byUser.get(user) ?? 0;
    if (this.taken >= this.limits.all || own >= this.limits.ofUser) throw tooManyRequestsError(1);
    this.taken++;
    this.byUser.set(user, own + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.taken--;
      const left = (this.byUser.get(user) ?? 1) - 1;
      if (left > 0) this.byUser.set(user, left);
      else this.byUser.delete(user);
    };
  }
}
