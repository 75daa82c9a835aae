/** Precedes the fields of `spec` in a stored pod. A text inside of the JSON has no bare quotation mark, and metadata has no field of this name. */
const specKey = ',"spec":{';
/** Precedes those of `status`. No field of the spec of a pod has this name. */
const statusKey = ',"status":{';
/** In the names of the only fields of a pod's status that refer to something. */
const claimStatus = 'esourceClaimStatus';

/**
 * Whether two stored states of a pod surely have the same {@link PodReferences}, without reading their JSON: most
 * changes of a pod are changes of its status. False when that can't be seen at a glance.
 *
 * @param mirror the annotation of mirror pods
 */
export function haveSameReferences(before: string, after: string, mirror: string): boolean {
  const old = specOf(before);
  if (old === undefined || old !== specOf(after)) return false;
  return [claimStatus, mirror].every((text) => !after.includes(text) && !before.includes(text));
}

/** The text of the spec; undefined if it isn't followed by a status. */
function specOf(json: string): string | undefined {
  const start = json.indexOf(specKey);
  if (start < 0) return undefined;
  const end = json.indexOf(statusKey, start);
  return end < 0 ? undefined : json.slice(start, end);
}
