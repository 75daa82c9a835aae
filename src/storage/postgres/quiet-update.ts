/** The rule of {@link isQuiet}. Give it another number when it finds other updates quiet than before. */
export const quietRule = 1;

/** Resources whose updates change nothing but their rows' metadata. The parts before their group. */
const onlyMetadata: ReadonlySet<string> = new Set(['leases', 'endpoints', 'endpointslices']);

/** Quotes inside strings are escaped, so these are members. */
const managedStart = ',"managedFields":[';
/** The end of managed fields that are the last member of the metadata, and of others. */
const lastEnd = '}]},"';
const otherEnd = '}],"';
const statusStart = ',"status":{';
const conditionsStart = '"conditions":[{';
const conditionsEnd = '}]';
/** What rows have of the status of a pod: its phase, and the reasons of itself and of its containers. */
const shownStatus = /"(?:phase|reason)":(?:"(?:[^"\\]|\\.)*"|[^",}\]]*)/g;

/**
 * Whether an update certainly leaves the row of the object as it is, in tables whose rows have no copy of the object: of
 * pods it changes nothing but managed fields and parts of the status that rows leave out, of leases and endpoints
 * nothing of the metadata but managed fields.
 *
 * Reads the texts without parsing them, which takes a few microseconds. False for texts in another form than that of
 * stored objects: members in the order of the kind, so that managed fields are the last one of the metadata.
 *
 * @param before the stored text that is replaced; both without encryption
 */
export function isQuiet(resource: string, before: string, after: string): boolean {
  const isPod = resource === 'pods';
  if (!isPod && !onlyMetadata.has(resource.split('.', 1)[0] as string)) return false;
  const old = partsOf(before);
  const now = partsOf(after);
  if (old === undefined || now === undefined || old.head !== now.head) return false;
  return !isPod || old.rest === now.rest || hasSameSurface(old.rest, now.rest);
}

/** A text up to its managed fields, and what follows the metadata. */
function partsOf(text: string): { readonly head: string; readonly rest: string } | undefined {
  const managed = text.indexOf(managedStart);
  if (managed < 0) return undefined;
  const end = text.indexOf(lastEnd, managed);
  if (end < 0) return undefined;
  const other = text.indexOf(otherEnd, managed);
  if (other >= 0 && other < end) return undefined;
  return { head: text.slice(0, managed), rest: text.slice(end) };
}

function hasSameSurface(before: string, after: string): boolean {
  const old = before.indexOf(statusStart);
  const now = after.indexOf(statusStart);
  if (old < 0 || old !== now || before.slice(0, old) !== after.slice(0, now)) return false;
  return surfaceOf(before.slice(old)) === surfaceOf(after.slice(now));
}

/** Everything that the columns of a row are made of, and perhaps more. */
function surfaceOf(status: string): string {
  const conditions = status.indexOf(conditionsStart);
  const end = conditions < 0 ? -1 : status.indexOf(conditionsEnd, conditions);
  const shown = end < 0 ? status : status.slice(0, conditions) + status.slice(end);
  return (shown.match(shownStatus) ?? []).join();
}
