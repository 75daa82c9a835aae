import { type Filter, type FilterRefusal, refusal } from '../filter.js';
import { mostPlacingSize, mostTermsOfNamespace } from '../placing-limits.js';

const name = 'PlacingLimits';
const kibibyte = 1024;

const tooLarge = refusal(
  name,
  `the affinity, node selector and topology spread constraints of the pod are larger than ${mostPlacingSize / kibibyte} KiB`,
  true,
);

function tooMuchInNamespace(namespace: string): FilterRefusal {
  const most = `${mostTermsOfNamespace / kibibyte} KiB`;
  const text = `the different affinity terms of the running pods of namespace ${namespace} would be larger than ${most}`;
  return refusal(name, text, true);
}

/**
 * Refuses pods with so many demands on nodes and other pods that decisions about everybody else's pods would take long.
 * Runs before any other filter, so no other filter reads such demands.
 */
export const placingLimits: Filter = {
  name,
  prepare(pod, { counts }) {
    if (pod.demandsSize === 0) return undefined;
    if (pod.demandsSize > mostPlacingSize) return { refusal: tooLarge };
    return counts.admits(pod) ? undefined : { refusal: tooMuchInNamespace(pod.namespace) };
  },
};
