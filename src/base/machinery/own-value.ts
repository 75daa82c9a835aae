/**
 * The value of an own key, for maps whose keys come from clients. Never returns inherited properties such as
 * `constructor`. Use it wherever a key may be unknown.
 */
export function ownValue<T>(map: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
}
