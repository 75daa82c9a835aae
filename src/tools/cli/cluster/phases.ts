import { StartupError } from '../../../base/machinery/startup-error.js';

/** One step of setting up a machine, which can be repeated: it leaves what is right as it is. */
export interface Phase {
  readonly name: string;
  /** The actions of the phase for `--dry-run`, one a line. */
  plan(): readonly string[];
  run(): Promise<void>;
}

export interface PhaseSettings {
  readonly skipped: readonly string[];
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
}

/** Runs phases in order, and prints the name of each. @throws StartupError when it is stopped between two phases */
export async function runPhases(phases: readonly Phase[], settings: PhaseSettings): Promise<void> {
  const { skipped, dryRun, signal, print } = settings;
  for (const phase of phases) {
    if (skipped.includes(phase.name)) {
      print(`[${phase.name}] skipped`);
      continue;
    }
    if (signal.aborted) throw new StartupError(`stopped before ${phase.name}: the same command goes on from there`);
    for (const line of phase.plan()) print(`[${phase.name}] ${dryRun ? 'would ' : ''}${line}`);
    if (!dryRun) await phase.run();
  }
}
