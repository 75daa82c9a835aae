import type { VendorNames } from '../../machinery/vendor.js';
import type { ConfiguredMode } from '../configured-mode.js';
import { AbacAuthorizer } from './abac.authorizer.js';
import { readPolicyFile } from './policy-file.js';

/** What the mode needs besides its file. */
export interface AbacModeParts {
  readonly names: VendorNames;
  readonly logger: { warn(text: string, fields?: object): void };
}

/** Mode `ABAC`: reads the policy file once. Throws `PolicyFileError` for one that can't be used. */
export function abacMode(path: string, { names, logger }: AbacModeParts): ConfiguredMode {
  const { policies, unversionedLines } = readPolicyFile(path, names);
  if (unversionedLines > 0) {
    logger.warn('the authorization policy has lines without a version, which mean more by an empty field', {
      path,
      lines: unversionedLines,
    });
  }
  const authorizer = new AbacAuthorizer(policies);
  return { authorizer, rules: authorizer };
}
