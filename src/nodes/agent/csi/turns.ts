/** Runs work with the same key one after the other, in the order in which it was given. */
export class Turns {
  private readonly last = new Map<string, Promise<unknown>>();

  take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.last.get(key) ?? Promise.resolve()).then(work);
    const done = turn
      .catch(() => undefined)
      .then(() => {
        if (this.last.get(key) === done) this.last.delete(key);
      });
    this.last.set(key, done);
    return turn;
  }
}
