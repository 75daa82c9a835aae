/* JSON texts that hostile definitions and objects are made of. */

/** Just below the limit of a request's body. */
export const most = 2_900_000;

export function times(count: number, element: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => element(i)).join(',');
}

export const text = '{"type":"string"}';
export const integer = '{"type":"integer"}';

/** An object schema with these properties, and more members. */
export function object(properties: string, more = ''): string {
  return `{"type":"object","properties":{${properties}}${more}}`;
}

/** The schema of a kind whose objects have `spec`, which has these properties. */
export function spec(properties: string, more = ''): string {
  return object(`"spec":${object(properties, more)}`);
}

export function nested(depth: number, open: string, inner: string, close: string): string {
  return open.repeat(depth) + inner + close.repeat(depth);
}

/** An object named `name` with this spec. */
export function instance(name: string, content: string, metadata = ''): string {
  return `{"metadata":{"name":"${name}"${metadata}},"spec":${content}}`;
}

/** Expressions as the schema has them; `more` is for the other members of each. */
export function rules(...expressions: readonly string[]): string {
  const each = expressions.map((rule) => `{"rule":${JSON.stringify(rule)}}`);
  return `,"x-kubernetes-validations":[${each.join(',')}]`;
}
