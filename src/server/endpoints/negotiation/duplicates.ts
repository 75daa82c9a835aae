/** The keys that occur twice in one object of a body. */
export interface DuplicateFields {
  /** For JSON: the paths of the keys (`spec.replicas`). */
  readonly paths: string[];
  /** For YAML: sentences about the keys (`line 9: key "replicas" already set in map`). */
  readonly lines: string[];
}

export function noDuplicates(): DuplicateFields {
  return { paths: [], lines: [] };
}

export function addDuplicates(to: DuplicateFields, { paths, lines }: DuplicateFields): void {
  to.paths.push(...paths);
  to.lines.push(...lines);
}
