import { isQualifiedName } from '../../base/machinery/names.js';

/** Maximum number of annotations that another server may add to one request, and maximum length of each. */
const maxAnnotations = 32;
const maxAnnotationLength = 10 * 1024;

/** The annotations that were refused. */
export interface OmittedAnnotations {
  readonly count: number;
  /** The first key, shortened, and its fault. */
  readonly key: string;
  readonly problem: string;
}

/**
 * Adds annotations from a webhook or another server to the audit event. Their keys get a prefix, so that no writer
 * overwrites the annotations of others. Long values are cut. Returns which annotations were left out: those with an
 * invalid key, those whose key exists already, and those above the maximum number.
 */
export function addForeignAnnotations(
  annotations: Map<string, string>,
  prefix: string,
  wanted: Readonly<Record<string, string>>,
): OmittedAnnotations | undefined {
  let seen = 0;
  let leftOut: OmittedAnnotations | undefined;
  for (const name in wanted) {
    const key = `${prefix}/${name}`;
    const problem =
      ++seen > maxAnnotations ? `more than ${maxAnnotations} annotations` : problemOf(key, name, annotations);
    if (problem === undefined) annotations.set(key, (wanted[name] as string).slice(0, maxAnnotationLength));
    else
      leftOut =
        leftOut === undefined
          ? { count: 1, key: key.slice(0, 200), problem }
          : { ...leftOut, count: leftOut.count + 1 };
  }
  return leftOut;
}

function problemOf(key: string, name: string, annotations: ReadonlyMap<string, string>): string | undefined {
  if (name.includes('/')) return 'must have no prefix of its own';
  return isQualifiedName(key)[0] ?? (annotations.has(key) ? 'the annotation exists already' : undefined);
}
