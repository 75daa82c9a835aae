import type { ComprehensionMacro, Expression } from './expression.js';

type Fail = (at: number, message: string) => never;

interface Form {
  readonly macro: ComprehensionMacro;
  readonly variables: number;
}

/** Macros that walk a list or map, by name and number of arguments. */
const comprehensions: Readonly<Record<string, Form>> = {
  'all/2': { macro: 'all', variables: 1 },
  'all/3': { macro: 'all', variables: 2 },
  'exists/2': { macro: 'exists', variables: 1 },
  'exists/3': { macro: 'exists', variables: 2 },
  'exists_one/2': { macro: 'exists_one', variables: 1 },
  'existsOne/3': { macro: 'exists_one', variables: 2 },
  'exists_one/3': { macro: 'exists_one', variables: 2 },
  'filter/2': { macro: 'filter', variables: 1 },
  'map/2': { macro: 'map', variables: 1 },
  'map/3': { macro: 'map', variables: 1 },
  'transformList/3': { macro: 'transformList', variables: 2 },
  'transformList/4': { macro: 'transformList', variables: 2 },
  'transformMap/3': { macro: 'transformMap', variables: 2 },
  'transformMap/4': { macro: 'transformMap', variables: 2 },
  'transformMapEntry/3': { macro: 'transformMapEntry', variables: 2 },
  'transformMapEntry/4': { macro: 'transformMapEntry', variables: 2 },
};

/** The expression that a macro stands for; undefined if the call is not one of a macro. */
export function expandMacro(
  name: string,
  target: Expression | undefined,
  args: readonly Expression[],
  at: number,
  fail: Fail,
): Expression | undefined {
  if (target === undefined)
    return name === 'has' && args.length === 1 ? presence(args[0] as Expression, at, fail) : undefined;
  if ((name === 'optMap' || name === 'optFlatMap') && args.length === 2) {
    const [variable, body] = args as [Expression, Expression];
    const isFlat = name === 'optFlatMap';
    return { kind: 'optionalMap', at, target, name: variableName(variable, fail), body, isFlat };
  }
  if (name === 'bind' && args.length === 3 && target.kind === 'identifier' && target.name === 'cel') {
    const [variable, value, body] = args as [Expression, Expression, Expression];
    const call: Expression = { kind: 'call', at, name, target, args };
    return { kind: 'binding', at, name: variableName(variable, fail), value, body, call };
  }
  if (name === 'sortBy' && args.length === 2) return sorting(target, args as [Expression, Expression], at, fail);
  const form = Object.hasOwn(comprehensions, `${name}/${args.length}`)
    ? comprehensions[`${name}/${args.length}`]
    : undefined;
  if (form === undefined) return undefined;
  const variables = args.slice(0, form.variables).map((variable) => variableName(variable, fail));
  if (variables.length === 2 && variables[0] === variables[1]) {
    fail((args[1] as Expression).at, `duplicate variable name: ${variables[0]}`);
  }
  return { kind: 'comprehension', at, macro: form.macro, range: target, variables, args: args.slice(form.variables) };
}

/** Expressions whose value may be sorted. */
const sortable: ReadonlySet<Expression['kind']> = new Set([
  'list',
  'identifier',
  'comprehension',
  'binding',
  'optionalMap',
  'call',
  'select',
]);
/** The name under which `sortBy` keeps its list. No expression can name it. */
const sortedList = '@__sortBy_input__';

/** `list.sortBy(name, key)`: the list, sorted by the keys that a `map` over it makes. */
function sorting(target: Expression, [variable, body]: [Expression, Expression], at: number, fail: Fail): Expression {
  if (!sortable.has(target.kind)) {
    fail(target.at, 'sortBy can only be applied to a list, identifier, comprehension, call or select expression');
  }
  if (variable.kind !== 'identifier') return fail(variable.at, 'argument is not an identifier');
  const list: Expression = { kind: 'identifier', at, name: sortedList };
  const variables = [variable.name];
  const keys: Expression = { kind: 'comprehension', at, macro: 'map', range: list, variables, args: [body] };
  const call: Expression = { kind: 'call', at, name: '@sortByAssociatedKeys', target: list, args: [keys] };
  return { kind: 'binding', at, name: sortedList, value: target, body: call, call: undefined };
}

function presence(argument: Expression, at: number, fail: Fail): Expression {
  if (argument.kind !== 'select' || argument.isOptional) return fail(argument.at, 'invalid argument to has() macro');
  return { kind: 'has', at, operand: argument.operand, field: argument.field };
}

function variableName(expression: Expression, fail: Fail): string {
  return expression.kind === 'identifier' ? expression.name : fail(expression.at, 'argument must be a simple name');
}
