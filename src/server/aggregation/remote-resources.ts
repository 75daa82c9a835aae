/** A resource as aggregated discovery shows it. */
export interface RemoteResource {
  readonly resource: string;
  readonly responseKind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly scope: 'Namespaced' | 'Cluster';
  readonly singularResource: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly {
    readonly subresource: string;
    readonly responseKind: RemoteResource['responseKind'];
    readonly verbs: readonly string[];
  }[];
}

/** Real servers have at most a few hundred. All of them are part of every discovery response. */
const maxEntries = 5000;

type Entry = Readonly<Record<string, unknown>>;

/**
 * The resources of an APIResourceList. Entries without a name or a kind are left out.
 *
 * @throws Error for anything that is not an APIResourceList, or has thousands of resources.
 */
export function readResourceList(value: unknown, group: string, version: string): RemoteResource[] {
  const { resources } = (value ?? {}) as { resources?: unknown };
  if (!Array.isArray(resources)) throw new Error('the response is not a list of resources');
  // Checked first: two megabytes may be a million entries.
  if (resources.length > maxEntries) throw new Error(`the list has more than ${maxEntries} resources`);
  const entries = resources.filter(
    (entry: unknown): entry is Entry => isText((entry as Entry | null)?.name) && isText((entry as Entry).kind),
  );
  const belowOf = Map.groupBy(entries, ({ name }) => (name as string).split('/', 1)[0] as string);
  const kindOf = (entry: Entry) => ({
    group: isText(entry.group) ? entry.group : group,
    version: isText(entry.version) ? entry.version : version,
    kind: entry.kind as string,
  });
  // Among entries with the same name, only the first counts: otherwise each of them would get all subresources.
  const named = new Map(entries.toReversed().map((entry) => [entry.name as string, entry]));
  return entries
    .filter((entry) => !(entry.name as string).includes('/') && named.get(entry.name as string) === entry)
    .map((entry) => {
      const name = entry.name as string;
      const below = (belowOf.get(name) ?? []).filter((other) => (other.name as string).startsWith(`${name}/`));
      return {
        resource: name,
        responseKind: kindOf(entry),
        scope: entry.namespaced === true ? 'Namespaced' : 'Cluster',
        singularResource: isText(entry.singularName) ? entry.singularName : '',
        verbs: textsOf(entry.verbs) ?? [],
        ...optional('shortNames', textsOf(entry.shortNames)),
        ...optional('categories', textsOf(entry.categories)),
        ...optional(
          'subresources',
          below.length === 0
            ? undefined
            : below.map((sub) => ({
                subresource: (sub.name as string).slice(name.length + 1),
                responseKind: kindOf(sub),
                verbs: textsOf(sub.verbs) ?? [],
              })),
        ),
      };
    });
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function textsOf(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter(isText) : undefined;
}

function optional<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [P in K]?: V };
}
