import { compiledMainFile } from '../support/main-file.js';
import { type RunOptions, runConsistencyCheck } from './consistency-run.js';
import { type FaultName, faultNames, faultVariable, workerFaultNames } from './faults/fault-names.js';
import type { CheckName, Report } from './report.js';

/** The checks that should find each fault. */
const caughtBy: Readonly<Record<FaultName, readonly CheckName[]>> = {
  'drop-notification': ['watch-prompt'],
  'reorder-events': ['watch-events', 'watch-complete'],
  'double-event': ['watch-events'],
  'lost-event': ['watch-complete', 'watch-bookmarks'],
  'lost-resume': ['watch-complete', 'watch-bookmarks'],
  'early-bookmark': ['watch-bookmarks', 'watch-events'],
  'stale-list': ['list-fresh'],
  'torn-pages': ['list-content'],
  'stale-read': ['read-fresh'],
  'lost-write': ['write-once'],
  'own-batch-gap': ['watch-complete', 'watch-bookmarks', 'watch-events', 'list-content'],
  'lost-batch': ['watch-prompt'],
  'thin-batch': ['watch-complete', 'watch-bookmarks', 'watch-events'],
  'double-batch': ['watch-events'],
  'forgotten-follow': ['watch-complete', 'watch-bookmarks', 'watch-events'],
  'lost-hint': ['watch-prompt'],
  'swapped-writes': ['write-once'],
  'swapped-reads': ['read-fresh', 'answers'],
  'stale-head': ['list-fresh'],
};

const run: RunOptions = { seed: 5, seconds: 60, servers: 2, disturbances: [], stopEarly: true, promptMs: 3_000 };

/**
 * Runs the check against servers that are wrong on purpose; true when the right check reports it.
 *
 * @param workers of each server
 */
export async function findsFault(
  fault: FaultName,
  workers = 1,
): Promise<{ readonly isFound: boolean; readonly report: Report }> {
  // Servers inherit the environment; this process has already started and does not change.
  process.env[faultVariable] = fault;
  process.env.NODE_OPTIONS = `--import ${new URL('./faults/arm-fault.js', import.meta.url).href}`;
  try {
    const report = await runConsistencyCheck({ ...run, workers, mainFile: compiledMainFile });
    return { isFound: caughtBy[fault].some((check) => report.failures(check) > 0), report };
  } finally {
    delete process.env[faultVariable];
    delete process.env.NODE_OPTIONS;
  }
}

/**
 * Every fault in turn, and a run of the same form without any, which has to pass.
 *
 * @param chosen only these faults
 */
export async function proveCheck(
  log: (line: string) => void,
  workers = 1,
  chosen?: readonly string[],
): Promise<boolean> {
  let isProven = true;
  const logResult = (what: string, isRight: boolean, report: Report) => {
    log(`${what}: ${isRight ? 'as it should be' : `WRONG\n${report.format()}`}`);
    isProven &&= isRight;
  };
  const clean = await runConsistencyCheck({ ...run, workers, seconds: 15 });
  const checks = new Set(Object.values(caughtBy).flat());
  const sawAll = [...checks].every((check) => clean.passes(check) > 0);
  logResult('finds nothing where nothing is wrong', clean.failures() === 0 && sawAll, clean);
  const faults = workers > 1 ? [...faultNames, ...workerFaultNames] : faultNames;
  for (const fault of faults.filter((name) => chosen?.includes(name) ?? true)) {
    const { isFound, report } = await findsFault(fault, workers);
    logResult(`finds ${fault}`, isFound, report);
  }
  return isProven;
}
