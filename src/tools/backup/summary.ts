import { type NotTaken, resourceName } from './format/lines.js';
import { printable } from './format/printable.js';
import type { BackupSummary } from './verify-backup.js';

/** The summary of a backup for people. */
export function summaryLines({ header, kinds, notTaken, isVerified, hasUnopened }: BackupSummary): readonly string[] {
  const { createdAt, program, serverVersion, resourceVersion, namespaces, sealing } = header;
  const rows = kinds
    .filter(({ objects }) => objects > 0)
    .map(({ section, objects }) => [
      resourceName(section),
      section.apiVersion,
      String(objects),
      section.sealed ? 'yes' : '',
    ]);
  const total = kinds.reduce((sum, { objects }) => sum + objects, 0);
  const lines = [
    `Version ${resourceVersion} of ${createdAt}, by ${program}${serverVersion === '' ? '' : `, from a server ${serverVersion}`}`,
    ...(namespaces.length === 0 ? [] : [`Namespaces: ${namespaces.join(', ')}`]),
    '',
    ...table(['KIND', 'API', 'OBJECTS', sealing === undefined ? '' : 'SEALED'], rows),
    '',
    `${total} objects; ${checked(isVerified, hasUnopened)}`,
  ];
  return [...lines, ...missingLines('Not in the backup:', notTaken)].map(printable);
}

/** The summary of a backup as JSON, for programs. */
export function summaryJson({ header, kinds, notTaken, isVerified, hasUnopened }: BackupSummary): object {
  const { sealing, ...published } = header;
  return {
    ...published,
    isSealed: sealing !== undefined,
    isVerified: isVerified && !hasUnopened,
    kinds: kinds.map(({ section: { apiVersion, kind, resource, sealed }, objects }) => ({
      apiVersion,
      kind,
      resource,
      sealed,
      objects,
    })),
    notTaken,
  };
}

function checked(isVerified: boolean, hasUnopened: boolean): string {
  if (!isVerified) return 'not verified';
  return hasUnopened ? 'verified, but for the sealed objects: give the passphrase or key' : 'verified';
}

/** The missing parts, unrequested omissions first. */
export function missingLines(title: string, notTaken: readonly NotTaken[]): readonly string[] {
  if (notTaken.length === 0) return [];
  const sorted = [...notTaken].sort((a, b) => Number(a.asked) - Number(b.asked));
  return ['', title, ...sorted.map(({ what, why }) => `  ${what}: ${why}`)];
}

/** Columns with a title each, as wide as their content; empty titles and what is below them are left out. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const columns = titles.flatMap((title, i) => (title === '' ? [] : [i]));
  const all = [titles, ...rows];
  const widths = columns.map((i) => Math.max(...all.map((row) => row[i]?.length ?? 0)));
  return all.map((row) =>
    columns
      .map((i, n) => (row[i] ?? '').padEnd(widths[n] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
