import type { ApiObject } from '../../../base/machinery/api-object.js';
import { ConvertedObjectFault } from './converted-object-fault.js';

const identity = ['name', 'namespace', 'uid'] as const;

/**
 * A converted object with the metadata of the object that was sent, in which only labels and annotations may change.
 *
 * @param what names the object in messages
 * @throws ConvertedObjectFault for an object of another version or kind, or another object
 */
export function checkedObject(converted: unknown, sent: ApiObject, apiVersion: string, what: string): ApiObject {
  const refuse = (problem: string) => new ConvertedObjectFault(`invalid ${what}: ${problem}`);
  if (!isFields(converted)) throw refuse('not an object');
  const { metadata } = converted;
  if (converted.apiVersion !== apiVersion) {
    throw refuse(`expected apiVersion ${JSON.stringify(apiVersion)}, got ${shown(converted.apiVersion)}`);
  }
  if (converted.kind !== sent.kind)
    throw refuse(`expected kind ${JSON.stringify(sent.kind)}, got ${shown(converted.kind)}`);
  if (!isFields(metadata)) throw refuse('no metadata');
  for (const field of identity) {
    const was = sent.metadata[field] ?? '';
    const is = metadata[field] ?? '';
    if (is !== was) throw refuse(`metadata.${field}: expected ${JSON.stringify(was)}, got ${shown(is)}`);
  }
  const { labels: _labels, annotations: _annotations, ...kept } = sent.metadata;
  const texts = {
    ...textMap('labels', metadata.labels, refuse),
    ...textMap('annotations', metadata.annotations, refuse),
  };
  return { ...converted, metadata: { ...kept, ...texts } } as ApiObject;
}

function textMap(
  field: 'labels' | 'annotations',
  value: unknown,
  refuse: (problem: string) => Error,
): Readonly<Record<string, unknown>> {
  if (value === undefined || value === null) return {};
  if (!isFields(value) || !Object.values(value).every((one) => typeof one === 'string')) {
    throw refuse(`metadata.${field}: expected a map of strings`);
  }
  return { [field]: value };
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 200);
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
