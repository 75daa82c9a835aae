import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How often the process checks whether it is idle. */
const lookMs = 1_000;
/** A process is idle if it used less of one core than this since the last check. */
const idleShare = 0.05;
/** Fewer young bytes than this are not worth a collection. */
const fewBytes = 4 * 2 ** 20;

/** Measures the CPU time and memory of the process, and collects garbage. */
export interface IdleMemoryDependencies {
  /** CPU time used so far by all threads, in milliseconds. */
  readonly processorMs: () => number;
  /** Milliseconds from some fixed point. */
  readonly elapsedMs: () => number;
  /** Bytes that the engine holds for young objects, whether used or not. */
  readonly youngBytes: () => number;
  /** Collects young objects; takes a few milliseconds. */
  readonly collect: () => void;
}

/**
 * Gives memory back that the engine holds for young objects. Their space grows to its full 32 MiB while a process starts
 * or is busy, and the engine shrinks it only when it collects, which an idle process never makes it do. Two collections
 * of young objects are enough; a busy process is left alone.
 */
export class IdleMemory {
  private processorMs: number;
  private elapsedMs: number;

  constructor(private readonly dependencies: IdleMemoryDependencies) {
    this.processorMs = dependencies.processorMs();
    this.elapsedMs = dependencies.elapsedMs();
  }

  look(): void {
    const processorMs = this.dependencies.processorMs();
    const elapsedMs = this.dependencies.elapsedMs();
    const isIdle = processorMs - this.processorMs < idleShare * (elapsedMs - this.elapsedMs);
    this.processorMs = processorMs;
    this.elapsedMs = elapsedMs;
    if (isIdle && this.dependencies.youngBytes() > fewBytes) this.dependencies.collect();
  }
}

/** Keeps the memory of this process small while it is idle, until it ends. */
export function keepIdleMemorySmall(): void {
  let collect: (() => void) | undefined;
  const memory = new IdleMemory({
    processorMs: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
    elapsedMs: () => performance.now(),
    youngBytes,
    collect: () => {
      collect ??= youngCollector();
      collect();
    },
  });
  setInterval(() => memory.look(), lookMs).unref();
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.physical_space_size ?? 0;
}

/**
 * The engine offers its collector only to contexts that are made while a flag is set. Another flag sets for how many
 * seconds it keeps pages that it has emptied. Compiled code depends on the flags, so they are reset each time.
 */
function youngCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('typeof gc === "function" ? () => gc({ type: "minor" }) : undefined');
  setFlagsFromString('--no-expose-gc');
  if (typeof collect !== 'function') return () => {};
  return () => {
    setFlagsFromString('--memory-pool-timeout=1');
    collect();
    setFlagsFromString('--memory-pool-timeout=8');
  };
}
