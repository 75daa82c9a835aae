import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { filesOf, flagsOf } from '../../base/config/flag.js';
import type { OptionGroups } from '../../base/config/parse-options.js';
import { fileProblem, waitsForWriter } from '../../base/machinery/file-problem.js';
import { StartupError } from '../../base/machinery/startup-error.js';

/**
 * Makes sure that every file named by the options can be read, before anything is written or changed.
 *
 * @throws StartupError that names the flag of each unreadable file.
 */
export async function checkFiles(groups: OptionGroups, parsed: Readonly<Record<string, object>>): Promise<void> {
  const problems: string[] = [];
  for (const [name, optionsClass] of Object.entries(groups)) {
    for (const flag of flagsOf(optionsClass)) {
      const value = (parsed[name] as Readonly<Record<string, unknown>> | undefined)?.[flag.property];
      for (const file of filesOf(flag, value)) {
        const problem = await problemOf(file);
        if (problem !== undefined) problems.push(`--${flag.name} ${file}: ${problem}`);
      }
    }
  }
  if (problems.length > 0) throw new StartupError(problems.join('; '));
}

/** The most bytes read from a file, which is far more than any of these files can need. */
const mostBytes = 64 * 1024 * 1024;

async function problemOf(file: string): Promise<string | undefined> {
  try {
    const found = await stat(file);
    if (found.isDirectory()) return 'it is a folder: name a file';
    // A device may deliver data without end.
    if (found.isCharacterDevice() || found.isBlockDevice()) return 'it is a device: name a file';
    if (waitsForWriter(file, found)) return 'it is a pipe: name a file';
    if (found.size > mostBytes) return `it has more than ${mostBytes >> 20} MiB: name another file`;
    await access(file, constants.R_OK);
    return undefined;
  } catch (error) {
    return fileProblem(error);
  }
}
