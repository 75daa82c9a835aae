import { readFile, stat } from 'node:fs/promises';
import { filesOf, flagsOf } from '../../../base/config/flag.js';
import type { OptionGroups } from '../../../base/config/parse-options.js';
import { errorCode, errorText } from '../../../base/machinery/startup-error.js';
import { bytesText, error, type Finding, ok, skipped, warning } from './finding.js';

const secretText = /PRIVATE KEY-----|client-key-data:|^\s*-?\s*(?:token|password|secret):/m;
const secretFlags: ReadonlySet<string> = new Set([
  'token-auth-file',
  'encryption-provider-config',
  'database-url-file',
  'database-password-file',
  'read-database-url-file',
]);
/**
 * The most bytes read from a file: no certificate, key or configuration is this large, and reading more could take
 * forever.
 */
const mostBytes = 64 * 2 ** 20;
const forOthers = 0o007;
const writableForGroup = 0o020;

/** Checks every file that the options name: it can be read, and a secret one not by everybody. */
export async function fileFindings(groups: OptionGroups, parsed: Readonly<Record<string, object>>): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [name, optionsClass] of Object.entries(groups)) {
    for (const flag of flagsOf(optionsClass)) {
      const value = (parsed[name] as Readonly<Record<string, unknown>>)[flag.property];
      for (const path of filesOf(flag, value)) {
        if (path !== '') findings.push(await fileFinding(flag.name, path));
      }
    }
  }
  return findings;
}

/** Whether a file can be read as a whole and again: the reader of a pipe may wait forever, and consumes its content. */
export async function isPlainFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() === true && found.size <= mostBytes;
}

/** The content of a plain file; undefined without one that can be read. */
export async function plainText(path: string): Promise<string | undefined> {
  return (await isPlainFile(path)) ? await readFile(path, 'utf8') : undefined;
}

/** The finding about one file, named by its flag or by where it is referenced. */
export async function fileFinding(flag: string, path: string): Promise<Finding> {
  const check = `file of --${flag}`;
  let text: string;
  let mode: number;
  try {
    const found = await stat(path);
    if (found.isDirectory()) return error(check, `${path} is a folder`, `name a file by --${flag}`);
    if (!found.isFile()) return skipped(check, `${path} is a pipe or a device, which is not read here`);
    if (found.size > mostBytes) return error(check, `${path} has ${bytesText(found.size)}`, `correct --${flag}`);
    text = await readFile(path, 'utf8');
    mode = found.mode;
  } catch (fault) {
    switch (errorCode(fault)) {
      case 'ENOENT':
      case 'ENOTDIR':
        return error(check, `${path} is not there`, `make it (plinth pki makes certificates), or correct --${flag}`);
      case 'EACCES':
        return error(check, `${path} can't be read`, 'let the user of the server read it: chown');
      default:
        return error(check, errorText(fault), `correct --${flag}`);
    }
  }
  const isSecret = secretFlags.has(flag) || secretText.test(text);
  if (isSecret && process.platform !== 'win32' && (mode & (forOthers | writableForGroup)) !== 0) {
    const who = (mode & forOthers) === 0 ? 'can be written by its group' : 'is open to every user';
    return warning(check, `${path} holds secrets and ${who} (${(mode & 0o777).toString(8)})`, `chmod 600 ${path}`);
  }
  return ok(check, path);
}
