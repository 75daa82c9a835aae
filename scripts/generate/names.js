/** `CronJob` -> `cron-job`. */
export function kebab(kind) {
  return kind.replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
}

/** `CronJob` -> `cronJob`. */
export function camel(kind) {
  return kind[0].toLowerCase() + kind.slice(1);
}

/** `example` -> `Example`. */
export function pascal(group) {
  return group[0].toUpperCase() + group.slice(1);
}

/** The usual plural; `--plural` sets another one. */
export function pluralOf(singular) {
  if (/(s|x|ch|sh)$/.test(singular)) return `${singular}es`;
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`;
  return `${singular}s`;
}
