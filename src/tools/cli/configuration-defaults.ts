import { DocumentError } from '../../base/config/document-error.js';
import { readDocumentFile } from '../../base/config/document-fields.js';
import { StartupError } from '../../base/machinery/startup-error.js';

/**
 * The defaults of flags by a configuration file; flags win over it.
 *
 * @param read takes the document apart
 * @throws StartupError with all problems of the file
 */
export function configurationDefaults(
  file: string,
  read: (document: unknown) => Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  try {
    return read(readDocumentFile(file));
  } catch (error) {
    if (error instanceof DocumentError)
      throw new StartupError(error.problems.map((line) => `${file}: ${line}`).join('\n'));
    throw error;
  }
}
