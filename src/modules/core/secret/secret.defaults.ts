import type { Secret } from '../../../objects/apis/core/v1/secret.types.js';

/**
 * Fills in the type `Opaque`, and moves text entries from `stringData` to `data`, where they replace entries of the
 * same name.
 */
export function applySecretDefaults(object: Secret): void {
  object.type ||= 'Opaque';
  if (object.stringData === undefined) return;
  const entries = Object.entries(object.stringData);
  if (entries.length > 0) {
    const data = { ...object.data };
    for (const [key, value] of entries) data[key] = Buffer.from(value).toString('base64');
    object.data = data;
  }
  delete object.stringData;
}
