/** The keys that a body has twice in one object. */
export interface Duplicates {
  /** Their paths (`spec.replicas`), in JSON text. */
  readonly paths: string[];
  /** Sentences (`line 9: key "replicas" already set in map`), in YAML text. */
  readonly lines: string[];
}

export function noDuplicates(): Duplicates {
  return { paths: [], lines: [] };
}

export function addDuplicates(to: Duplicates, { paths, lines }: Duplicates): void {
  to.paths.push(...paths);
  to.lines.push(...lines);
}
