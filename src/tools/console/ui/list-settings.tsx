import type { ListSettings } from './columns.js';
import { userName } from './session.js';
import { isTextList } from './stored.js';
import { storedOfUser } from './stored-of-user.js';

const none: ListSettings = { hidden: [], isWide: false, labels: [] };

function areSettings(value: unknown): value is Readonly<Record<string, ListSettings>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every(
      (each: Partial<ListSettings> | null) => each !== null && isTextList(each?.hidden) && isTextList(each.labels),
    )
  );
}

// Of each user: names of labels tell what there is.
const kept = storedOfUser<Readonly<Record<string, ListSettings>>>('lists', {}, areSettings, userName);

/** @param key of the kind */
export function settingsOf(key: string): ListSettings {
  return Object.hasOwn(kept.value, key) ? (kept.value[key] ?? none) : none;
}

export function changeSettings(key: string, change: Partial<ListSettings>): void {
  kept.value = { ...kept.value, [key]: { ...settingsOf(key), ...change } };
}
