/** Words of the language, including reserved ones. */
const reserved: ReadonlySet<string> = new Set([
  'true',
  'false',
  'null',
  'in',
  'as',
  'break',
  'const',
  'continue',
  'else',
  'for',
  'function',
  'if',
  'import',
  'let',
  'loop',
  'package',
  'namespace',
  'return',
]);

const escapes: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};

/** The reserved words that an expression can't use even after a dot. */
const never: ReadonlySet<string> = new Set(['true', 'false', 'null', 'in']);

/**
 * The names of a property in expressions, none for one that expressions can't name. Words of the language have to be
 * escaped only where they would be ambiguous; releases before 1.32 always require it.
 */
export function namesInRules(property: string): readonly string[] {
  const escaped = escapedName(property);
  if (escaped === undefined) return [];
  return reserved.has(property) && !never.has(property) ? [escaped, property] : [escaped];
}

/** The name of a property that expressions can always use; undefined for one that they can't name. */
function escapedName(property: string): string | undefined {
  if (reserved.has(property)) return `__${property}__`;
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(property)) return undefined;
  return property.replaceAll(/__|[./-]/g, (part) => escapes[part] as string);
}
