import type { OptionsClass } from './flag.js';
import { declareIgnored } from './ignored-flags.js';
import { releaseFlags } from './release-flags.js';

function ignored(set: keyof typeof releaseFlags): OptionsClass {
  const optionsClass = class {};
  declareIgnored(optionsClass, releaseFlags[set]);
  return optionsClass;
}

/** Groups of the flags of release 1.37 that are accepted for the sake of existing command lines and change nothing. */
export const releaseFlagGroups = {
  ignoredEveryProgram: ignored('everyProgram'),
  ignoredStore: ignored('store'),
  ignoredServe: ignored('serve'),
  ignoredEvents: ignored('events'),
  ignoredServer: ignored('server'),
  ignoredLoops: ignored('loops'),
  ignoredLoopServing: ignored('loopServing'),
} as const;
