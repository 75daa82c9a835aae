import { readFileSync } from 'node:fs';
import { LiveFiles, type LiveFilesOptions } from '../../base/config/live-files.js';
import { StartupError } from '../../base/machinery/startup-error.js';
import { readYaml } from '../../base/machinery/yaml/read-yaml.js';
import type { AuditPolicy } from './audit-policy.js';
import { AuditPolicyError } from './audit-policy-error.js';
import { readPolicy } from './policy-document.js';

const flag = '--audit-policy-file';

/**
 * The policy of a file, which is read again when it changes. If the file becomes unusable, the current policy stays in
 * force and an error is logged.
 *
 * @throws StartupError with all problems when the file is unusable now.
 */
export function openPolicyFile(
  file: string,
  apiVersion: string,
  logger: LiveFilesOptions<AuditPolicy>['logger'],
  wait?: LiveFilesOptions<AuditPolicy>['wait'],
): LiveFiles<AuditPolicy> {
  return new LiveFiles({ paths: [file], load: () => load(file, apiVersion), logger, subject: 'audit policy', wait });
}

function load(file: string, apiVersion: string): AuditPolicy {
  const text = read(file);
  let document: unknown;
  try {
    document = readYaml(text);
  } catch (error) {
    throw new StartupError(`${flag} ${file}: is neither YAML nor JSON: ${(error as Error).message.split('\n')[0]}`);
  }
  try {
    return readPolicy(document, apiVersion);
  } catch (error) {
    if (!(error instanceof AuditPolicyError)) throw error;
    throw new StartupError(error.problems.map((problem) => `${flag} ${file}: ${problem}`).join('; '));
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new StartupError(`${flag} ${file}: can't be read: ${(error as Error).message}`);
  }
}
