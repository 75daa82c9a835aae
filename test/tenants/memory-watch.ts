import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Supervised } from './supervised.js';

/** Memory of a process at one time, in bytes. */
interface Sample {
  readonly at: number;
  readonly resident: number;
  /** Heap of the thread with the largest one; undefined for other programs. */
  readonly heap: number | undefined;
}

/** The most memory that a process used in a period, in bytes. */
export interface Peak {
  readonly name: string;
  readonly resident: number;
  readonly heap: number | undefined;
  readonly isWithin: boolean;
}

const everyMs = 250;

/** Samples the memory of processes until it is stopped. */
export class MemoryWatch {
  private readonly samples = new Map<Supervised, Sample[]>();
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly processes: readonly Supervised[]) {
    this.timer = setInterval(() => this.sample(), everyMs);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Peaks since a time of `performance.now()`. */
  peaks(since: number): Peak[] {
    return this.processes.map((one) => {
      const taken = (this.samples.get(one) ?? []).filter(({ at }) => at >= since);
      const resident = Math.max(0, ...taken.map((sample) => sample.resident));
      const heaps = taken.flatMap(({ heap }) => heap ?? []);
      const heap = heaps.length === 0 ? undefined : Math.max(...heaps);
      const { limits } = one;
      const isWithin =
        resident <= (limits.resident ?? Number.POSITIVE_INFINITY) &&
        (heap ?? 0) <= (limits.heap ?? Number.POSITIVE_INFINITY);
      return { name: one.name, resident, heap, isWithin };
    });
  }

  /** Resident memory of every process in MiB, one line for each sample. */
  course(since: number, everySeconds: number): string[] {
    return this.processes.map((one) => {
      const taken = (this.samples.get(one) ?? []).filter(({ at }) => at >= since);
      const step = Math.max(1, Math.round((everySeconds * 1000) / everyMs));
      const shown = taken.filter((_, i) => i % step === 0);
      return `${one.name}: ${shown.map(({ resident }) => Math.round(resident / 2 ** 20)).join(' ')} MiB`;
    });
  }

  private sample(): void {
    const at = performance.now();
    for (const one of this.processes) {
      const { pid } = one;
      const resident = pid === undefined ? undefined : residentOf(pid);
      if (pid === undefined || resident === undefined) continue;
      const taken = this.samples.get(one) ?? [];
      taken.push({ at, resident, heap: heapOf(one.folder, pid) });
      this.samples.set(one, taken);
    }
  }
}

function residentOf(pid: number): number | undefined {
  try {
    const found = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return found === null ? undefined : Number(found[1]) * 1024;
  } catch {
    return undefined;
  }
}

function heapOf(folder: string, pid: number): number | undefined {
  try {
    const files = readdirSync(folder).filter((name) => name.startsWith(`heap-${pid}-`) && !name.endsWith('.new'));
    const sizes = files.map((name) => Number(readFileSync(join(folder, name), 'utf8').split(' ')[0]));
    return sizes.length === 0 ? undefined : Math.max(...sizes);
  } catch {
    return undefined;
  }
}
