import { listDoc } from '../../../../base/machinery/list-doc.js';
import {
  always,
  type Infer,
  type KindType,
  kind,
  list,
  required,
  type TypeMeta,
} from '../../../../base/machinery/schema/index.js';
import { type ListMeta, listMeta } from './object-meta.types.js';

/** Objects of one kind, as a list request returns them. */
export type ListOf<T> = TypeMeta & { metadata: ListMeta; items: T[] | null };

/** Declares the list kind that belongs to `item`: its name with `List`, in the same group and version. */
export function listKind<K extends KindType>(
  item: K,
  options: { readonly name?: string } = {},
): KindType<ListOf<Infer<K>>> {
  const { group, version, kind: itemKind } = item.kind;
  const declared = kind(
    { group, version, kind: `${itemKind}List` },
    {
      metadata: always(1, listMeta, { doc: 'The state that the list shows.' }),
      items: required(2, list(item), { doc: listDoc(itemKind) }),
    },
    { doc: `Objects of kind ${itemKind}.`, ...options },
  );
  return declared as unknown as KindType<ListOf<Infer<K>>>;
}
