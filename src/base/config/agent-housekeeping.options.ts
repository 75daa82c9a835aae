import { Max, Min } from 'class-validator';
import { Check } from './check.js';
import { Flag } from './flag.js';

function thresholdsProblem(thresholds: readonly string[]): string | undefined {
  const form =
    /^(memory|nodefs|imagefs)\.available<\d+(\.\d+)?(%|[kMGT]i?|Ki)?$|^(nodefs|imagefs)\.inodesFree<\d+(\.\d+)?%?$|^pid\.available<\d+%?$/;
  return thresholds.every((each) => form.test(each))
    ? undefined
    : 'must be thresholds of memory.available, nodefs.available, imagefs.available, their inodesFree or pid.available';
}

function sizeProblem(size: string): string | undefined {
  return /^\d+(Ki|Mi|Gi|k|M|G)?$/.test(size) ? undefined : 'must be a quantity such as 10Mi';
}

function notNegative(value: number): string | undefined {
  return value >= 0 ? undefined : 'must not be negative';
}

/** What a node agent cleans up, and when it ends pods because the machine is short of something (specification 8). */
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

  @Flag({ name: 'image-gc-low-threshold', type: 'int', unit: 'percent', usage: 'How full the disk may be after that.' })
  @Min(0, { message: 'must be between 0 and 100' })
  @Max(100, { message: 'must be between 0 and 100' })
  readonly imageGcLowThreshold: number = 80;

  @Flag({ name: 'minimum-image-ttl-duration', type: 'duration', usage: 'Younger images are never removed.' })
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
    usage: 'How many files of a log are kept, the present one among them.',
  })
  @Min(2, { message: 'must be 2 or more' })
  readonly containerLogMaxFiles: number = 5;

  @Flag({
    name: 'eviction-hard',
    type: 'list',
    unit: 'thresholds',
    usage:
      'Pods are ended at once while less than this is left. A list replaces the default; 0% in a threshold turns it off.',
  })
  @Check('thresholds', thresholdsProblem)
  readonly evictionHard: readonly string[] = [
    'imagefs.available<15%',
    'memory.available<100Mi',
    'nodefs.available<10%',
  ];

  @Flag({
    name: 'eviction-pressure-transition-period',
    type: 'duration',
    usage: 'How long a node still reports that it is short of something after that has passed.',
  })
  @Check('duration', notNegative)
  readonly evictionPressureTransitionPeriodMs: number = 300_000;
}
