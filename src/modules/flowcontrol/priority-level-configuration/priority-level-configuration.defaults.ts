import type { PriorityLevelConfiguration } from '../../../objects/apis/flowcontrol/v1/priority-level-configuration.types.js';

const defaultShares = 30;
const defaultQueues = 64;
const defaultHandSize = 8;
const defaultQueueLength = 50;

/** Fills in the defaults of a priority level. Changes the object. */
export function applyPriorityLevelDefaults({ spec }: PriorityLevelConfiguration): void {
  if (spec.type === 'Exempt') {
    spec.exempt ??= {};
    spec.exempt.nominalConcurrencyShares ??= 0;
    spec.exempt.lendablePercent ??= 0;
  }
  const { limited } = spec;
  if (limited === undefined) return;
  limited.nominalConcurrencyShares ??= defaultShares;
  limited.lendablePercent ??= 0;
  const { queuing } = limited.limitResponse;
  if (queuing === undefined) return;
  queuing.queues ||= defaultQueues;
  queuing.handSize ||= defaultHandSize;
  queuing.queueLengthLimit ||= defaultQueueLength;
}
