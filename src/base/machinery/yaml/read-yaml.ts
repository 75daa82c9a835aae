import { parseDocument } from 'yaml';
import { documentOptions, documentValue } from './document-value.js';

/**
 * The value of a configuration file, read as YAML bodies of requests are: see {@link documentValue}. Such files have no
 * aliases.
 *
 * @param uniqueKeys whether a key that an object has twice is a fault
 * @throws an Error for text that is no YAML; its message may quote the text
 */
export function readYaml(text: string, uniqueKeys = true): unknown {
  const document = parseDocument(text, { ...documentOptions, uniqueKeys, prettyErrors: true });
  const fault = document.errors[0];
  if (fault !== undefined) throw fault;
  return documentValue(document, 0);
}
