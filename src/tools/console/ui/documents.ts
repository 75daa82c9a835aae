import { parseAllDocuments } from 'yaml';
import { dig, textAt } from './dig.js';
import { type Kind, kindOf, pathOf } from './kinds.js';

/** One object of a pasted text. */
export interface PastedObject {
  /** The text of this object alone, as it was typed. */
  readonly text: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** The objects of a text with one or several YAML documents, or what is wrong with it. Empty documents are skipped. */
export function pastedObjects(text: string): readonly PastedObject[] | { readonly problem: string } {
  const documents = parseAllDocuments(text, { logLevel: 'error', intAsBigInt: true });
  if (!Array.isArray(documents)) return [];
  const objects: PastedObject[] = [];
  for (const [index, document] of documents.entries()) {
    const where = documents.length === 1 ? '' : `document ${index + 1}: `;
    const [error] = document.errors;
    if (error !== undefined) return { problem: `${where}${error.message}` };
    if (document.contents === null) continue;
    let value: unknown;
    try {
      value = document.toJS({ maxAliasCount: 0 });
    } catch (fault) {
      return { problem: `${where}${(fault as Error).message}` };
    }
    if (value === null) continue;
    const [apiVersion, kind] = [textAt(value, 'apiVersion'), textAt(value, 'kind')];
    if (apiVersion === '' || kind === '') return { problem: `${where}there is no apiVersion and kind` };
    if (Array.isArray(dig(value, 'items')) && kind.endsWith('List')) {
      return { problem: `${where}paste the objects of a list as documents of their own, with --- between them` };
    }
    const [start, , end] = document.range;
    objects.push({
      text: text.slice(start, end).replace(/^---.*\n/, ''),
      apiVersion,
      kind,
      namespace: textAt(value, 'metadata', 'namespace'),
      name: textAt(value, 'metadata', 'name'),
    });
  }
  return objects;
}

/**
 * The collection that an object goes into.
 *
 * @param usual the namespace of objects that name none
 */
export function collectionOf(
  kinds: readonly Kind[],
  { apiVersion, kind, namespace }: PastedObject,
  usual: string,
): string | undefined {
  const known = kindOf(kinds, apiVersion, kind);
  if (known === undefined) return undefined;
  // In the version that was written, not the one that the server prefers.
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
  return pathOf({ ...known, version }, known.namespaced ? namespace || usual || 'default' : '');
}
