import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { ConfiguredMode } from '../configured-mode.js';
import { AbacAuthorizer } from './abac.authorizer.js';
import { readPolicyFile } from './policy-file.js';

/** Dependencies of the mode besides its file. */
export interface AbacModeDependencies {
  readonly names: VendorNames;
  readonly logger: { warn(text: string, fields?: object): void };
}

/** Mode `ABAC`: reads the policy file once. Throws `PolicyFileError` when the file is unusable. */
export function abacMode(path: string, { names, logger }: AbacModeDependencies): ConfiguredMode {
  const { policies, unversionedLines } = readPolicyFile(path, names);
  if (unversionedLines > 0) {
    logger.warn('the authorization policy has lines without a version, in which an empty field allows more', {
      path,
      lines: unversionedLines,
    });
  }
  const authorizer = new AbacAuthorizer(policies);
  return { authorizer, rules: authorizer };
}
