import { StatusError } from '../status-error.js';

/** A field that another owner has set to another value. */
export interface FieldConflict {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
  /** The path as messages show it: `.spec.ports[port=80].name`. */
  readonly path: string;
}

/** The most conflicts listed, so that a response stays readable. */
const maxShown = 1000;

/**
 * The 409 that lists the conflicting fields and their owners; above a thousand, it gives only the number of the rest.
 */
export function conflictsError(conflicts: readonly FieldConflict[]): StatusError {
  const count = `${conflicts.length} conflict${conflicts.length === 1 ? '' : 's'}`;
  const shown = conflicts.length > maxShown ? conflicts.slice(0, maxShown) : conflicts;
  const rest = conflicts.length > maxShown ? `\nand ${conflicts.length - maxShown} more` : '';
  return new StatusError('Conflict', `Apply failed with ${count}: ${describe(shown)}${rest}`, {
    details: {
      causes: shown.map((conflict) => ({
        reason: 'FieldManagerConflict',
        message: `conflict with ${ownerOf(conflict)}`,
        field: conflict.path,
      })),
    },
  });
}

function describe(conflicts: readonly FieldConflict[]): string {
  const [only] = conflicts;
  if (only !== undefined && conflicts.length === 1) return `conflict with ${ownerOf(only)}: ${only.path}`;
  const byOwner = new Map<string, string[]>();
  for (const conflict of conflicts) {
    const owner = ownerOf(conflict);
    const paths = byOwner.get(owner) ?? [];
    byOwner.set(owner, paths);
    paths.push(conflict.path);
  }
  return [...byOwner.keys()]
    .sort()
    .flatMap((owner) => [`conflicts with ${owner}:`, ...(byOwner.get(owner) ?? []).map((path) => `- ${path}`)])
    .join('\n');
}

function ownerOf(conflict: FieldConflict): string {
  const subresource = conflict.subresource === '' ? '' : ` with subresource ${JSON.stringify(conflict.subresource)}`;
  const version = conflict.operation === 'Update' ? ` using ${conflict.apiVersion}` : '';
  return `${JSON.stringify(conflict.manager)}${subresource}${version}`;
}
