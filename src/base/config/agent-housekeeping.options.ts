import { Max, Min } from 'class-validator';
import { Check } from './check.js';
import { Flag } from './flag.js';
import { parseFlagDuration } from './flag-duration.js';

const bytes = '(memory|nodefs|imagefs)\\.available';
const counts = '((nodefs|imagefs)\\.inodesFree|pid\\.available)';
const signal = new RegExp(`^(${bytes}|${counts})$`);
const signals = 'memory.available, nodefs.available, imagefs.available, their inodesFree or pid.available';

function amountsProblem(sign: '<' | '='): (amounts: readonly string[]) => string | undefined {
  const number = '\\d+(\\.\\d+)?';
  const form = new RegExp(`^${bytes}${sign}${number}(%|[kMGT]i?|Ki)?$|^${counts}${sign}${number}%?$`);
  return (amounts) => (amounts.every((each) => form.test(each)) ? undefined : `must be amounts of ${signals}`);
}

function gracesProblem(graces: readonly string[]): string | undefined {
  const isGood = graces.every((each) => {
    const [name = '', duration = ''] = each.split('=');
    return signal.test(name) && (parseFlagDuration(duration) ?? -1) >= 0;
  });
  return isGood ? undefined : `must be durations for ${signals}, such as memory.available=1m30s`;
}

function prioritiesProblem(pairs: readonly string[], options: Readonly<Record<string, unknown>>): string | undefined {
  if (pairs.length > 0 && Number(options.shutdownGracePeriodMs) > 0) return 'excludes --shutdown-grace-period';
  const priorities = new Set(pairs.map((pair) => Number(pair.split('=')[0])));
  const isGood = pairs.every((pair) => {
    const [priority = '', grace = ''] = pair.split('=');
    return /^-?\d{1,10}$/.test(priority) && (parseFlagDuration(grace) ?? -1) >= 0;
  });
  return isGood && priorities.size === pairs.length
    ? undefined
    : 'must be durations for different priorities, such as 1000=30s';
}

/** Every soft eviction threshold needs a grace period for which it may be exceeded. */
function softProblem(soft: readonly string[], options: Readonly<Record<string, unknown>>): string | undefined {
  const problem = amountsProblem('<')(soft);
  if (problem !== undefined) return problem;
  const graces = new Set((options.evictionSoftGracePeriod as readonly string[]).map((each) => each.split('=')[0]));
  const without = soft.map((each) => each.split('<')[0]).filter((name) => !graces.has(name));
  return without.length === 0 ? undefined : `needs a grace period for ${without.join(', ')}`;
}

function sizeProblem(size: string): string | undefined {
  return /^\d+(Ki|Mi|Gi|k|M|G)?$/.test(size) ? undefined : 'must be a quantity such as 10Mi';
}

function notNegative(value: number): string | undefined {
  return value >= 0 ? undefined : 'must not be negative';
}

/**
 * What a node agent garbage-collects, and when it evicts pods because the machine runs short of a resource
 * (specification 8).
 */
export class AgentHousekeepingOptions {
  @Flag({
    name: 'image-gc-high-threshold',
    type: 'int',
    unit: 'percent',
    usage: 'Unused images are removed when the disk is this full. 100: never.',
  })
  @Min(0, { message: 'must be between 0 and 100' })
  @Max(100, { message: 'must be between 0 and 100' })
  readonly imageGcHighThreshold: number = 85;

  @Flag({
    name: 'image-gc-low-threshold',
    type: 'int',
    unit: 'percent',
    usage: 'How full the disk may be after unused images were removed for --image-gc-high-threshold.',
  })
  @Min(0, { message: 'must be between 0 and 100' })
  @Max(100, { message: 'must be between 0 and 100' })
  readonly imageGcLowThreshold: number = 80;

  @Flag({
    name: 'minimum-image-ttl-duration',
    type: 'duration',
    usage: 'Unused images that are younger than this are never removed.',
  })
  @Check('duration', notNegative)
  readonly minimumImageTtlMs: number = 120_000;

  @Flag({
    name: 'container-log-max-size',
    type: 'string',
    unit: 'quantity',
    usage: 'A log of a container begins a new file at this size.',
  })
  @Check('size', sizeProblem)
  readonly containerLogMaxSize: string = '10Mi';

  @Flag({
    name: 'container-log-max-files',
    type: 'int',
    unit: 'count',
    usage: 'How many files of the log of a container are kept, the current one included.',
  })
  @Min(2, { message: 'must be 2 or more' })
  readonly containerLogMaxFiles: number = 5;

  @Flag({
    name: 'eviction-hard',
    type: 'list',
    unit: 'thresholds',
    usage:
      'Pods are ended at once while less of a resource than this is left. A list replaces the default; 0% turns a threshold off.',
  })
  @Check('thresholds', amountsProblem('<'))
  readonly evictionHard: readonly string[] = [
    'imagefs.available<15%',
    'memory.available<100Mi',
    'nodefs.available<10%',
  ];

  @Flag({
    name: 'eviction-soft',
    type: 'list',
    unit: 'thresholds',
    usage:
      'Pods are ended with a grace period when less of a resource than this is left for longer than --eviction-soft-grace-period.',
  })
  @Check('thresholds', softProblem)
  readonly evictionSoft: readonly string[] = [];

  @Flag({
    name: 'eviction-soft-grace-period',
    type: 'list',
    unit: 'durations',
    usage: 'How long the thresholds of --eviction-soft may be passed, such as memory.available=1m30s.',
  })
  @Check('durations', gracesProblem)
  readonly evictionSoftGracePeriod: readonly string[] = [];

  @Flag({
    name: 'eviction-max-pod-grace-period',
    type: 'int',
    unit: 'seconds',
    usage:
      'Maximum grace period of pods that are ended because a threshold of --eviction-soft was passed; a shorter ' +
      'grace period of a pod applies.',
  })
  @Min(0, { message: 'must be 0 or more' })
  readonly evictionMaxPodGracePeriod: number = 0;

  @Flag({
    name: 'eviction-minimum-reclaim',
    type: 'list',
    unit: 'amounts',
    usage:
      'How much of a resource beyond its threshold must be free again before evictions stop, such as ' +
      'nodefs.available=500Mi.',
  })
  @Check('amounts', amountsProblem('='))
  readonly evictionMinimumReclaim: readonly string[] = [];

  @Flag({
    name: 'shutdown-grace-period',
    type: 'duration',
    usage:
      'How long pods may take to end when the machine shuts down. systemd waits for that; without systemd, ' +
      'SIGTERM counts as a shutdown. 0: the containers keep running.',
  })
  @Check('duration', notNegative)
  readonly shutdownGracePeriodMs: number = 0;

  @Flag({
    name: 'shutdown-grace-period-critical-pods',
    type: 'duration',
    usage: 'How much of --shutdown-grace-period is for critical pods, which end after all others.',
  })
  @Check<number>('duration', (value, options) => {
    const isGood = value >= 0 && value <= Number(options.shutdownGracePeriodMs);
    return isGood ? undefined : 'must not be more than --shutdown-grace-period';
  })
  readonly shutdownGracePeriodCriticalPodsMs: number = 0;

  @Flag({
    name: 'shutdown-grace-period-by-pod-priority',
    type: 'list',
    unit: 'durations',
    usage:
      'In place of --shutdown-grace-period: pods from this priority on, up to the next one in the list, have this time to end, ' +
      'the least important first, such as 0=30s,1000=10s.',
  })
  @Check('durations', prioritiesProblem)
  readonly shutdownGracePeriodByPodPriority: readonly string[] = [];

  @Flag({
    name: 'eviction-pressure-transition-period',
    type: 'duration',
    usage: 'How long a node still reports pressure on a resource after the pressure has ended.',
  })
  @Check('duration', notNegative)
  readonly evictionPressureTransitionPeriodMs: number = 300_000;
}
