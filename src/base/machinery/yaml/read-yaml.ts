import { parseDocument } from 'yaml';
import { documentOptions, documentValue } from './document-value.js';

/**
 * The value of a configuration file, read in the same way as YAML request bodies: see {@link documentValue}. Aliases
 * are refused.
 *
 * @param uniqueKeys whether a duplicate key of an object is an error
 * @throws an Error for invalid YAML; its message may quote the file
 */
export function readYaml(text: string, uniqueKeys = true): unknown {
  const document = parseDocument(text, { ...documentOptions, uniqueKeys, prettyErrors: true });
  const fault = document.errors[0];
  if (fault !== undefined) throw fault;
  return documentValue(document, 0);
}
