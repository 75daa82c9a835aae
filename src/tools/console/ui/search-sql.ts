import { type Kind, kindOf } from './kinds.js';
import type { FoundObject } from './search-all.js';
import type { SqlTables } from './sql-completion.js';

/** Views of kinds whose names are meaningless, or that have thousands of objects. */
const skipped = /^(?:events|leases|componentstatuses)(?:_|$)/;
/** Columns that the view of a kind has, and others in the schema do not. */
const ofKind = ['namespace', 'name', 'uid', 'object'];
/** The console takes no longer question. */
const mostText = 60_000;

/**
 * A question for the objects of all kinds whose names contain a text.
 *
 * @param namespace the only namespace to look in; empty: all
 * @param most how many objects are wanted at most, of one kind and of all
 * @returns undefined where there are so many kinds that the question would be too long
 */
export function searchQuestion(
  tables: SqlTables,
  { text, namespace, most }: { readonly text: string; readonly namespace: string; readonly most: number },
): string | undefined {
  const within = namespace === '' ? '' : ` and namespace = ${literal(namespace)}`;
  const parts = [...tables]
    .filter(([name, columns]) => !skipped.test(name) && ofKind.every((column) => columns.includes(column)))
    .map(
      ([name]) =>
        `(select ${literal(name)} v, namespace, name, object->>'apiVersion' a, object->>'kind' k ` +
        `from cluster.${identifier(name)}, sought where strpos(lower(name), t) > 0${within} limit ${most})`,
    );
  if (parts.length === 0) return undefined;
  const question =
    `with sought as (select lower(${literal(text.trim())}) t)\n` +
    `select f.* from (${parts.join('\nunion all\n')}) f, sought\n` +
    `order by lower(name) <> t, not starts_with(lower(name), t), name, v limit ${most}`;
  return question.length > mostText ? undefined : question;
}

/** The objects in an answer to {@link searchQuestion}; those of kinds that the page does not know are left out. */
export function foundIn(rows: readonly (readonly (string | null)[])[], kinds: readonly Kind[]): FoundObject[] {
  return rows.flatMap(([view, namespace, name, apiVersion, kindName]) => {
    // An encrypted object shows nothing but its name: its view determines the kind.
    const kind =
      (kindName && kindOf(kinds, apiVersion ?? '', kindName)) ||
      kinds.find((each) => viewsOf(each).includes(view ?? ''));
    return kind ? [{ kind, namespace: namespace ?? '', name: name ?? '' }] : [];
  });
}

function viewsOf({ resource, group }: Kind): readonly string[] {
  return [resource, `${resource}_${group.replaceAll(/[^a-z0-9]/g, '_')}`];
}

function literal(text: string): string {
  return `'${text.replaceAll('\0', '').replaceAll("'", "''")}'`;
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
