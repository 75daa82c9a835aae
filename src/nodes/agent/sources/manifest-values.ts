import { readYaml } from '../../../base/machinery/yaml/read-yaml.js';
import { ManifestError } from './manifest-error.js';

/** The documents of one text. */
const mostDocuments = 256;

/** The values of the documents in a JSON or YAML text. Blank documents are left out. @throws ManifestError */
export function manifestValues(text: string): unknown[] {
  const documents = text.split(/^---(?:[ \t].*)?$/m).filter(hasContent);
  if (documents.length > mostDocuments) throw new ManifestError(`has more than ${mostDocuments} documents`);
  return documents.map((document) => {
    try {
      return readYaml(document);
    } catch (error) {
      throw new ManifestError(`is neither YAML nor JSON: ${(error as Error).message.split('\n')[0]}`);
    }
  });
}

/** Whether a document is more than blank lines and comments. */
function hasContent(document: string): boolean {
  return document.split('\n').some((line) => line.trim() !== '' && !line.trimStart().startsWith('#'));
}
