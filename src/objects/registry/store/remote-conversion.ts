import type { ApiObject } from '../../../base/machinery/api-object.js';
import { cloneJson } from '../../../base/machinery/json/exact-numbers.js';
import { inTurns, mappedInSteps } from '../../../base/machinery/turns.js';
import { type ConvertingRequest, type RemoteConversion, remoteConversionOf } from '../resource-definition.js';
import type { ServedResource } from '../resource-registry.js';
import { encodeConverted, isPresentForm, parseText, storedApiVersion } from './object-codec.js';

/**
 * Conversion of objects of kinds that have an external converter. Requests await the conversion of the objects they
 * need and continue with objects, or JSON, that are in their version already; only requests may call these functions.
 * Control loops work on the stored objects, in whatever version they were written.
 */

type Text = { readonly json: string };

/** Whether stored JSON must be converted before a request for the resource can show it. */
export function needsConversion(resource: ServedResource, json: string): boolean {
  if (remoteConversionOf(resource.definition) === undefined) return false;
  return !(resource.isStored && isPresentForm(resource, json));
}

/**
 * Stored JSON in the version of the resource, in the same order; JSON that needs no conversion stays the same. The
 * codec reads the results like stored JSON. Undefined when nothing has to be converted.
 */
export function convertedTexts<T extends Text>(
  resource: ServedResource,
  texts: readonly T[],
  request: ConvertingRequest,
): Promise<readonly T[]> | undefined {
  const conversion = remoteConversionOf(resource.definition);
  if (conversion === undefined) return undefined;
  const places = texts.flatMap(({ json }, i) => (needsConversion(resource, json) ? [i] : []));
  return places.length === 0 ? undefined : convertTexts(resource, conversion, texts, places, request);
}

async function convertTexts<T extends Text>(
  resource: ServedResource,
  conversion: RemoteConversion,
  texts: readonly T[],
  places: readonly number[],
  request: ConvertingRequest,
): Promise<readonly T[]> {
  const objects = await inTurns(mappedInSteps(places, (i) => parseText(resource, (texts[i] as T).json)));
  const encode = (object: ApiObject) => encodeConverted(resource, object);
  const encoded = await conversion.convert(objects, resource.apiVersion, request, encode);
  const result = [...texts];
  for (const [n, i] of places.entries()) result[i] = { ...(texts[i] as T), json: encoded[n] as string };
  return result;
}

/** A stored object in the version of the resource: a copy, unless it is in that version already. */
export async function convertedToServed(
  resource: ServedResource,
  object: ApiObject,
  request: ConvertingRequest,
): Promise<ApiObject> {
  return (await convertedObject(resource, object, resource.apiVersion, request)) ?? object;
}

/** An object of the served version in the stored one. The input may be changed. */
export async function convertedToStored(
  resource: ServedResource,
  object: ApiObject,
  request: ConvertingRequest,
): Promise<ApiObject> {
  return (await convertedObject(resource, object, storedApiVersion(resource), request)) ?? object;
}

/** The object in another version of its kind; undefined if nothing converts it. */
export async function convertedObject(
  resource: ServedResource,
  object: ApiObject,
  apiVersion: string,
  request: ConvertingRequest,
): Promise<ApiObject | undefined> {
  const conversion = remoteConversionOf(resource.definition);
  if (conversion === undefined || object.apiVersion === apiVersion) return undefined;
  const [converted] = await conversion.convert([object], apiVersion, request, (made) => made);
  return cloneJson(converted as ApiObject);
}
