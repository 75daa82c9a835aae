/** Something of a machine that does a part of each request. */
export interface Part {
  readonly name: string;
  /** Whether one thread does all of it, however many processors there are. */
  readonly isAlone: boolean;
  /** Processor time so far, in microseconds. */
  readonly microseconds: number;
}

/** What a part took between two readings, and the most that it allows. */
export interface Wall {
  readonly name: string;
  readonly isAlone: boolean;
  /** Processor time for each request, in microseconds. */
  readonly each: number;
  /** Requests per second at which the part's only thread, or all processors, would be busy all the time. */
  readonly most: number;
}

/**
 * The parts in the order in which they end growth, the lowest first, and before them all parts together. A part whose
 * thread is alone has one processor at most; the whole has `processors`.
 */
export function wallsOf(before: readonly Part[], after: readonly Part[], requests: number, processors: number): Wall[] {
  const used = after.map(({ name, isAlone, microseconds }) => {
    const began = before.find((part) => part.name === name)?.microseconds ?? 0;
    return { name, isAlone, each: (microseconds - began) / requests };
  });
  const sum = used.reduce((all, { each }) => all + each, 0);
  const whole: Wall = { name: 'all parts', isAlone: false, each: sum, most: (processors * 1e6) / sum };
  const walls = used.map(
    (part): Wall => ({ ...part, most: (part.isAlone ? 1e6 : processors * 1e6) / Math.max(part.each, 1e-3) }),
  );
  return [whole, ...walls.sort((a, b) => a.most - b.most)];
}
