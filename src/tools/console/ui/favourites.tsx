import { userName } from './session.js';
import { isTextList, stored } from './stored.js';
import { storedOfUser } from './stored-of-user.js';

/** Kinds that the user keeps at the top, by {@link keyOfKind}. */
export const favourites = storedOfUser<readonly string[]>('favourites', [], isTextList, userName);

/** Purposes whose kinds are folded away. */
export const folded = stored<readonly string[]>('folded', ['access', 'cluster'], isTextList);

/** Puts an entry into a list, or takes it out. */
export function toggled(list: readonly string[], entry: string): readonly string[] {
  return list.includes(entry) ? list.filter((each) => each !== entry) : [...list, entry];
}

/** A list with filters that the user has given a name. */
export interface SavedView {
  readonly name: string;
  /** The address of the page. */
  readonly address: string;
}

function areViews(value: unknown): value is readonly SavedView[] {
  return (
    Array.isArray(value) &&
    value.every(
      ({ name, address }: Partial<SavedView>) =>
        typeof name === 'string' && typeof address === 'string' && address.startsWith('#/list/'),
    )
  );
}

export const savedViews = storedOfUser<readonly SavedView[]>('views', [], areViews, userName);
