import type { Api } from './api.js';
import { dig, listAt, textAt } from './dig.js';
import { type Kind, pathOf } from './kinds.js';

/** An object whose name was sought. */
export interface FoundObject {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
}

/** What a search has seen so far. */
export interface SearchState {
  readonly found: readonly FoundObject[];
  /** Kinds that are still to be looked through. */
  readonly left: number;
  /** Kinds of which there are more objects than were looked through. */
  readonly cut: readonly string[];
  /** Kinds that can't be listed, by the user or at all. */
  readonly refused: readonly string[];
  /** Where the database found them: how long it took, in milliseconds. */
  readonly bySqlMs?: number;
}

/** Kinds whose names are meaningless, or that have thousands of objects. */
const skipped: ReadonlySet<string> = new Set(['events', 'componentstatuses', 'leases']);
/** Objects of one kind that are looked through, in pages. */
const mostOfKind = 5000;
const page = 1000;
/** Lists under way at once: the user has other requests too. */
const atOnce = 6;
const mostFound = 500;

/**
 * Looks for objects of all kinds whose names contain a text, by lists of metadata.
 *
 * @param show called with each change
 */
export async function searchAll(
  api: Api,
  { kinds, suffix, namespace, text }: { kinds: readonly Kind[]; suffix: string; namespace: string; text: string },
  show: (state: SearchState) => void,
  signal: AbortSignal,
): Promise<void> {
  const wanted = text.trim().toLowerCase();
  const queue = kinds.filter(
    ({ verbs, resource, namespaced, group }) =>
      verbs.includes('list') &&
      !skipped.has(resource) &&
      !group.startsWith('metrics.') &&
      (namespace === '' || namespaced),
  );
  let state: SearchState = { found: [], left: queue.length, cut: [], refused: [] };
  const accept = `application/json;as=PartialObjectMetadataList;v=v1;g=meta.${suffix},application/json`;
  const look = async (kind: Kind) => {
    let next = '';
    let seen = 0;
    do {
      const query = new URLSearchParams({ limit: String(page), ...(next && { continue: next }) });
      const list = await api.json<unknown>(`${pathOf(kind, namespace)}?${query}`, { accept, signal });
      const items = listAt(list, 'items');
      seen += items.length;
      const found = items
        .map((item) => ({
          kind,
          name: textAt(item, 'metadata', 'name'),
          namespace: textAt(item, 'metadata', 'namespace'),
        }))
        .filter(({ name }) => name.toLowerCase().includes(wanted));
      if (found.length > 0) state = { ...state, found: sorted([...state.found, ...found], wanted).slice(0, mostFound) };
      next = String(dig(list, 'metadata', 'continue') ?? '');
    } while (next !== '' && seen < mostOfKind);
    if (next !== '') state = { ...state, cut: [...state.cut, kind.resource] };
  };
  const work = async () => {
    for (let kind = queue.shift(); kind !== undefined && !signal.aborted; kind = queue.shift()) {
      const { resource } = kind;
      await look(kind).catch(() => {
        state = { ...state, refused: [...state.refused, resource] };
      });
      state = { ...state, left: state.left - 1 };
      if (!signal.aborted) show(state);
    }
  };
  show(state);
  await Promise.all(Array.from({ length: atOnce }, work));
}

/** Names that are the text first, then those that begin with it. */
function sorted(found: readonly FoundObject[], wanted: string): readonly FoundObject[] {
  const rank = ({ name }: FoundObject) => (name === wanted ? 0 : name.startsWith(wanted) ? 1 : 2);
  return found.toSorted((a, b) => rank(a) - rank(b));
}
