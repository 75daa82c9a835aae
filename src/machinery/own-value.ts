/**
 * The value of an own key of a map whose keys come from clients; never anything inherited, as `constructor` would be. To
 * be used wherever the key is not one of the map's own.
 */
export function ownValue<T>(map: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
}
