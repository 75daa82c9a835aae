import { setTimeout as delay } from 'node:timers/promises';
import type { Attack } from './attack.js';
import type { Target } from './attacker.js';
import { AttackerProcess, type Loot } from './attacker-process.js';
import { control } from './attacks/index.js';
import { HonestProbes, probeNames } from './honest-probes.js';
import { HonestWork } from './honest-work.js';
import { MemoryWatch, type Peak } from './memory-watch.js';
import type { Plane } from './plane.js';
import { type ProcessorTimes, ProcessorWatch, shownShares } from './processor-watch.js';
import { Tenancy } from './tenancy.js';
import { complaints, delays, type Span, shownPeaks, slowestStep, type Welfare, welfareIn } from './verdict.js';

/** One line of the table. */
export interface Row {
  readonly name: string;
  readonly rounds: number;
  readonly loot: Loot;
  readonly quiet: Welfare;
  readonly during: Welfare;
  readonly loops: string;
  readonly peaks: readonly Peak[];
  /** Resident memory over time. */
  readonly course: readonly string[];
  /**
   * Seconds from the end of the attack until the cluster had recovered; undefined when that took more than a minute.
   */
  readonly normalAfter: number | undefined;
  readonly faults: readonly string[];
}

export interface Times {
  readonly quietSeconds: number;
  readonly attackSeconds: number;
  readonly attackers: number;
}

/** The cluster has to recover within this many milliseconds after an attack. */
const recoveryMs = 60_000;
const windowMs = 5_000;
const stepsMs = 70_000;
/** A restart, or the removal of the attackers' objects, may take longer than a step of an honest tenant. */
const removalMs = 180_000;
/**
 * A single pause decides about the p99 of the few samples of one round. Whoever seems to do harm attacks this often, and
 * all samples count.
 */
const rounds = 4;
/** The last quiet times that count, with more samples than those rounds have. */
const quietPool = 6;
const noLoot: Loot = { counts: {}, samples: {}, megabytes: 0 };

/** A day on one control plane: honest tenants work all the time, and one attack follows another. */
export class Malice {
  private readonly quietSpans: Span[] = [];
  private readonly processors = new ProcessorWatch(() => this.groups());
  private attackers: readonly AttackerProcess[] = [];
  private readonly namespaces: string[] = [];

  private constructor(
    private readonly plane: Plane,
    private readonly times: Times,
    private readonly tenancy: Tenancy,
    private readonly probes: HonestProbes,
    private readonly work: HonestWork,
    private readonly memory: MemoryWatch,
    private readonly log: (line: string) => void,
  ) {}

  static async begin(plane: Plane, times: Times, log: (line: string) => void): Promise<Malice> {
    const tenancy = new Tenancy(plane);
    await tenancy.reserveNode();
    const token = await tenancy.honest();
    const probes = await HonestProbes.start(plane, token);
    const work = new HonestWork(plane, token);
    const malice = new Malice(plane, times, tenancy, probes, work, new MemoryWatch(plane.processes), log);
    // Code is compiled and caches are filled before the first measurement.
    await work.allSince(performance.now(), stepsMs);
    await malice.rest(times.quietSeconds);
    log(`quiet: ${shown(malice.quiet)}`);
    return malice;
  }

  /** One attack, and the recovery from it. A cluster in which the next attack can't be prepared has a fault, too. */
  async suffer(attack: Attack): Promise<Row> {
    const quiet = this.quiet;
    const ended = this.ends.length;
    const began = performance.now();
    try {
      return await this.attack(attack);
    } catch (error) {
      const normalAfter = await this.recover(quiet);
      const spans: Span[] = [[began, performance.now()]];
      const faults = [`not prepared: ${error}`];
      return this.row(attack.name, { loot: noLoot, quiet, spans, began, ended, normalAfter, faults });
    }
  }

  /** An attack whose times are over their limits comes again, in a new namespace: then all its rounds are judged together. */
  private async attack(attack: Attack): Promise<Row> {
    const ended = this.ends.length;
    const began = performance.now();
    const spans: Span[] = [];
    const loots: Loot[] = [];
    await this.rest(Math.min(8, this.times.quietSeconds));
    const { quiet } = this;
    do {
      const { span, loot } = await this.round(attack, spans.length + 1, quiet);
      spans.push(span);
      loots.push(loot);
    } while (spans.length < rounds && (spans.length > 1 || delays(quiet, this.welfare(spans)).length > 0));
    const loot = together(loots);
    const normalAfter = await this.recover(quiet);
    const faults = [...(loot.fault === undefined ? [] : [`the attacker: ${loot.fault}`])];
    return this.row(attack.name, { loot, quiet, spans, began, ended, normalAfter, faults });
  }

  private async round(
    attack: Attack,
    number: number,
    quiet: Welfare,
  ): Promise<{ readonly span: Span; readonly loot: Loot }> {
    const namespace = number === 1 ? `mallory-${attack.name}` : `mallory-${attack.name}-${number}`;
    this.namespaces.push(namespace);
    const target = await this.tenancy.attacker(namespace);
    const attackers = await this.startAttackers(target, attack.name);
    const from = performance.now();
    const used = this.processors.take();
    for (const attacker of attackers) attacker.go();
    await delay(this.times.attackSeconds * 1000);
    this.reportProcessors(used, from);
    await this.work.allSince(from, stepsMs);
    const span: Span = [from, performance.now()];
    const loot = together(await Promise.all(attackers.map((attacker) => attacker.stop())));
    for (const late of delays(quiet, this.welfare([span]))) this.log(`  round ${number} of ${attack.name}: ${late}`);
    return { span, loot };
  }

  /** Ends all processes and starts them with all objects that attackers have stored. */
  async restart(): Promise<Row> {
    const quiet = this.quiet;
    const ended = this.ends.length;
    const began = performance.now();
    const faults: string[] = [];
    await this.plane.restart().catch((error: unknown) => faults.push(`no restart: ${error}`));
    const from = performance.now();
    this.log(`restarted after ${((from - began) / 1000).toFixed(1)} s`);
    const normalAfter = await this.recover(quiet);
    const spans: Span[] = [[from, performance.now()]];
    return this.row('restart', { loot: noLoot, quiet, spans, began, ended, normalAfter, faults, isAfter: true });
  }

  /** An administrator deletes all objects that attackers have stored, while the honest tenants continue. */
  async removal(): Promise<Row> {
    const quiet = this.quiet;
    const ended = this.ends.length;
    const began = performance.now();
    const took = await this.tenancy.remove(this.namespaces, removalMs).catch(() => undefined);
    await this.work.allSince(began, stepsMs);
    const until = performance.now();
    // Objects with finalizers that nobody removes are meant to stay.
    this.log(took === undefined ? 'some namespaces stay' : `namespaces gone after ${(took / 1000).toFixed(1)} s`);
    const normalAfter = await this.recover(quiet);
    const spans: Span[] = [[began, until]];
    return this.row('removal', { loot: noLoot, quiet, spans, began, ended, normalAfter, faults: [] });
  }

  async end(): Promise<void> {
    this.memory.stop();
    await this.work.stop();
    this.probes.stop();
    this.tenancy.close();
  }

  private get quiet(): Welfare {
    return this.welfare(this.quietSpans.slice(-quietPool));
  }

  private welfare(spans: readonly Span[]): Welfare {
    return welfareIn(spans, this.probes, this.work);
  }

  private get ends(): string[] {
    return this.plane.processes.flatMap((one) => one.ends);
  }

  /** A quiet period beside processes that use as much processor time as attackers may. */
  private async rest(seconds: number): Promise<void> {
    const idle = { urls: [], token: '', adminToken: '', namespace: '', hasScheduler: false };
    const spinners = await this.startAttackers(idle, control.name);
    const from = performance.now();
    const used = this.processors.take();
    for (const spinner of spinners) spinner.go();
    await delay(seconds * 1000);
    this.reportProcessors(used, from);
    await this.work.allSince(from, stepsMs);
    this.quietSpans.push([from, performance.now()]);
    await Promise.all(spinners.map((spinner) => spinner.stop()));
  }

  private async startAttackers(target: Target, attack: string): Promise<readonly AttackerProcess[]> {
    const started = Array.from({ length: this.times.attackers }, () => AttackerProcess.start(target, attack));
    this.attackers = await Promise.all(started);
    return this.attackers;
  }

  private groups(): ReadonlyMap<number, string> {
    const groups = new Map<number, string>();
    for (const { pid, name } of this.plane.processes) if (pid !== undefined) groups.set(pid, name);
    for (const { pid } of this.attackers) if (pid !== undefined) groups.set(pid, 'attackers');
    return groups;
  }

  private reportProcessors(before: ProcessorTimes, since: number): void {
    this.log(`  ${shownShares(before, this.processors.take(), (performance.now() - since) / 1000)}`);
  }

  /** Resolves with the seconds until honest tenants get their usual times again. */
  private async recover(quiet: Welfare): Promise<number | undefined> {
    const began = performance.now();
    for (;;) {
      const from = performance.now();
      await delay(windowMs);
      await this.work.allSince(from, Math.max(windowMs, recoveryMs - (performance.now() - began)));
      const now = this.welfare([[from, performance.now()]]);
      if (complaints(quiet, now).length === 0) return (from - began) / 1000;
      if (performance.now() - began > recoveryMs) return undefined;
    }
  }

  private row(
    name: string,
    seen: Omit<Row, 'name' | 'rounds' | 'during' | 'loops' | 'peaks' | 'course'> & {
      readonly spans: readonly Span[];
      readonly began: number;
      readonly ended: number;
      /** All that counts is whether the cluster recovered. */
      readonly isAfter?: boolean;
    },
  ): Row {
    const { loot, quiet, spans, began, ended, normalAfter, isAfter } = seen;
    const during = this.welfare(spans);
    const peaks = this.memory.peaks(began);
    const faults = [
      ...this.ends.slice(ended),
      ...seen.faults,
      ...peaks.filter(({ isWithin }) => !isWithin).map((peak) => `memory: ${shownPeaks([peak])} MiB`),
      ...(isAfter === true ? [] : complaints(quiet, during)),
      ...(normalAfter === undefined ? ['not as before within a minute'] : []),
    ];
    const course = this.memory.course(began, 5);
    const loops = slowestStep(quiet, during);
    const row = { name, rounds: spans.length, loot, quiet, during, loops, peaks, course, normalAfter, faults };
    this.log(
      `${name}: ${faults.length === 0 ? 'passed' : 'FAILED'} in ${spans.length} rounds; ${JSON.stringify(loot.counts)}, ${loot.megabytes} MB sent`,
    );
    this.log(`  quiet  ${shown(quiet)}`);
    this.log(`  during ${shown(during)}; slowest: ${loops}; as before after ${normalAfter?.toFixed(0) ?? '> 60'} s`);
    for (const line of course) this.log(`  ${line}`);
    for (const [code, sample] of Object.entries(loot.samples)) this.log(`  ${code}: ${sample}`);
    for (const fault of faults) this.log(`  FAULT ${fault}`);
    return row;
  }
}

function shown({ probes, steps }: Welfare): string {
  const latencies = probeNames.map((name) => {
    const { p50, p99, faults } = probes.get(name) ?? { p50: 0, p99: 0, faults: [] };
    return `${name} ${p50.toFixed(0)}/${p99.toFixed(0)}${faults.length === 0 ? '' : ` (${faults.length} failed)`}`;
  });
  const seconds = [...steps].map(([name, { ms }]) => `${name} ${(ms / 1000).toFixed(1)}`);
  return `${latencies.join(', ')} ms; ${seconds.join(', ')} s`;
}

function together(all: readonly Loot[]): Loot {
  const counts: Record<string, number> = {};
  for (const loot of all) for (const [what, n] of Object.entries(loot.counts)) counts[what] = (counts[what] ?? 0) + n;
  const samples = Object.assign({}, ...all.map((loot) => loot.samples)) as Loot['samples'];
  const megabytes = all.reduce((sum, loot) => sum + loot.megabytes, 0);
  const fault = all.find((loot) => loot.fault !== undefined)?.fault;
  return fault === undefined ? { counts, samples, megabytes } : { counts, samples, megabytes, fault };
}
