import { remoteConversionOf } from '../../../objects/registry/resource-definition.js';
import type { ServedResource } from '../../../objects/registry/resource-registry.js';
import { convertedTexts, needsConversion } from '../../../objects/registry/store/remote-conversion.js';
import type { Change } from '../../../storage/storage.interface.js';

/** Changes converted to the version of a resource, shared by all of its watches in the process. */
const convertedBatches = new WeakMap<ServedResource, WeakMap<readonly Change[], Promise<readonly Change[]>>>();

/**
 * Changes with their JSON in the version of the resource; undefined when they have that version already. Watches of the
 * same version share the conversion of a batch. It is not subject to the time limit of any request, only to that of a
 * webhook call.
 */
export function convertedChanges(
  resource: ServedResource,
  changes: readonly Change[],
): Promise<readonly Change[]> | undefined {
  if (remoteConversionOf(resource.definition) === undefined) return undefined;
  let batches = convertedBatches.get(resource);
  if (batches === undefined) {
    batches = new WeakMap();
    convertedBatches.set(resource, batches);
  }
  const known = batches.get(changes);
  if (known !== undefined) return known;
  if (!changes.some(({ json, previousJson }) => isForeign(resource, json) || isForeign(resource, previousJson))) {
    return undefined;
  }
  const converting = convert(resource, changes);
  batches.set(changes, converting);
  return converting;
}

function isForeign(resource: ServedResource, json: string | undefined): boolean {
  return json !== undefined && needsConversion(resource, json);
}

async function convert(resource: ServedResource, changes: readonly Change[]): Promise<readonly Change[]> {
  const texts = changes.flatMap(({ json, previousJson }) =>
    previousJson === undefined ? [{ json }] : [{ json }, { json: previousJson }],
  );
  const converted = (await convertedTexts(resource, texts, { signal: new AbortController().signal })) ?? texts;
  let next = 0;
  const take = () => (converted[next++] as { readonly json: string }).json;
  return changes.map((change) => {
    const json = take();
    return change.previousJson === undefined ? { ...change, json } : { ...change, json, previousJson: take() };
  });
}
