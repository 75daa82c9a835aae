/** How often it is checked whether the process is quiet, in milliseconds. */
const lookMs = 10_000;
/** A process that uses less than this part of a processor is quiet. */
const quietPart = 0.05;
/** CPU time after which there may be much to free, in milliseconds. A collection takes up to a tenth of a second itself. */
const worthMs = 2_000;

export interface QuietCollectionParts {
  /** Collects all garbage and gives free memory back. */
  readonly collect: () => void;
  /** CPU time that the process has used, in milliseconds. */
  readonly usedMs: () => number;
}

/**
 * Frees what a burst of work has left: the engine collects garbage only when there is more of it, so a process that has become
 * quiet would keep it for hours.
 */
export class QuietCollection {
  private lookedAtMs: number;
  private collectedAtMs: number;

  constructor(private readonly dependencies: QuietCollectionParts) {
    this.lookedAtMs = dependencies.usedMs();
    this.collectedAtMs = 0;
  }

  /** Looks at what the process has used since the last look, {@link lookMs} ago. Returns whether it collected. */
  look(): boolean {
    const { collect, usedMs } = this.dependencies;
    const now = usedMs();
    const used = now - this.lookedAtMs;
    this.lookedAtMs = now;
    if (used > quietPart * lookMs || now - this.collectedAtMs < worthMs) return false;
    collect();
    this.collectedAtMs = usedMs();
    return true;
  }
}

/** Collects garbage whenever this process has become quiet after work. Does nothing unless the engine was started with `--expose-gc`. */
export function collectWhenQuiet(): void {
  const { gc } = globalThis as { gc?: (options: object) => void };
  if (gc === undefined) return;
  const usedMs = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  // The strongest form also drops what the engine could make again.
  const collect = () => gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  const collection = new QuietCollection({ collect, usedMs });
  setInterval(() => collection.look(), lookMs).unref();
}
