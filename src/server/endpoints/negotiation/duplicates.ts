/** The keys that occur twice in one object of a body. */
export interface Duplicates {
  /** For JSON: the paths of the keys (`spec.replicas`). */
  readonly paths: string[];
  /** For YAML: sentences about the keys (`line 9: key "replicas" already set in map`). */
  readonly lines: string[];
}

export function noDuplicates(): Duplicates {
  return { paths: [], lines: [] };
}

export function addDuplicates(to: Duplicates, { paths, lines }: Duplicates): void {
  to.paths.push(...paths);
  to.lines.push(...lines);
}
