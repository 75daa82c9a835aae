import type { Value } from '../values/value.js';

/** Names of the macros that walk a list or a map. Those with two variables get index or key, and the element. */
export type ComprehensionMacro =
  | 'all'
  | 'exists'
  | 'exists_one'
  | 'filter'
  | 'map'
  | 'transformList'
  | 'transformMap'
  | 'transformMapEntry';

interface Node {
  /** Offset in the text, for error messages. */
  readonly at: number;
}

export interface LiteralExpression extends Node {
  readonly kind: 'literal';
  readonly value: Value;
}

export interface IdentifierExpression extends Node {
  readonly kind: 'identifier';
  readonly name: string;
}

/** `operand.field`, or `operand.?field` if optional. */
export interface SelectExpression extends Node {
  readonly kind: 'select';
  readonly operand: Expression;
  readonly field: string;
  readonly isOptional: boolean;
}

/** `has(operand.field)`. */
export interface PresenceExpression extends Node {
  readonly kind: 'has';
  readonly operand: Expression;
  readonly field: string;
}

/** A function, a method (with a target) or an operator (`_+_`; `_&&_` and `_||_` have two or more arguments). */
export interface CallExpression extends Node {
  readonly kind: 'call';
  readonly name: string;
  readonly target: Expression | undefined;
  readonly args: readonly Expression[];
}

export interface ListExpression extends Node {
  readonly kind: 'list';
  readonly elements: readonly { readonly value: Expression; readonly isOptional: boolean }[];
}

export interface MapExpression extends Node {
  readonly kind: 'map';
  readonly entries: readonly { readonly key: Expression; readonly value: Expression; readonly isOptional: boolean }[];
}

/** `Name.of.type{field: value}`. */
export interface MessageExpression extends Node {
  readonly kind: 'message';
  readonly name: string;
  readonly fields: readonly {
    readonly at: number;
    readonly name: string;
    readonly value: Expression;
    readonly isOptional: boolean;
  }[];
}

export interface ComprehensionExpression extends Node {
  readonly kind: 'comprehension';
  readonly macro: ComprehensionMacro;
  readonly range: Expression;
  /** One name, or two. */
  readonly variables: readonly string[];
  /** A condition or a transformation; for the forms with a filter, the filter and the transformation. */
  readonly args: readonly Expression[];
}

/** `optional.optMap(name, body)`, or `optFlatMap` if flat. */
export interface OptionalMapExpression extends Node {
  readonly kind: 'optionalMap';
  readonly target: Expression;
  readonly name: string;
  readonly body: Expression;
  readonly isFlat: boolean;
}

/**
 * `cel.bind(name, value, body)` with the plain call that it stands for where bindings are not available, or a binding
 * that a macro makes for its own use.
 */
export interface BindingExpression extends Node {
  readonly kind: 'binding';
  readonly name: string;
  readonly value: Expression;
  readonly body: Expression;
  readonly call: Expression | undefined;
}

/** A parsed expression, with macros recognized. */
export type Expression =
  | LiteralExpression
  | IdentifierExpression
  | SelectExpression
  | PresenceExpression
  | CallExpression
  | ListExpression
  | MapExpression
  | MessageExpression
  | ComprehensionExpression
  | OptionalMapExpression
  | BindingExpression;

/** The dotted name that an expression spells (`a.b.c`), or undefined if it is something else. */
export function dottedName(expression: Expression): string | undefined {
  if (expression.kind === 'identifier') return expression.name;
  if (expression.kind !== 'select' || expression.isOptional) return undefined;
  const head = dottedName(expression.operand);
  return head === undefined ? undefined : `${head}.${expression.field}`;
}
