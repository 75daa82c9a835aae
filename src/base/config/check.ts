import { ValidateBy } from 'class-validator';

/**
 * Checks one option with a function that returns the problem with the value, or undefined; `all` has the other options.
 */
export function Check<Value>(
  name: string,
  problem: (value: Value, all: Readonly<Record<string, unknown>>) => string | undefined,
): PropertyDecorator {
  const siblings = (object: object | undefined) => (object ?? {}) as Readonly<Record<string, unknown>>;
  return ValidateBy({
    name,
    validator: {
      validate: (value, args) => value === undefined || problem(value as Value, siblings(args?.object)) === undefined,
      defaultMessage: (args) => problem(args?.value as Value, siblings(args?.object)) ?? 'is invalid',
    },
  });
}

/** Returns a function for {@link Check} that reports a file given without its counterpart, the option `other`. */
export function pairProblem(other: string) {
  return (_file: string, all: Readonly<Record<string, unknown>>): string | undefined =>
    all[other] === undefined ? 'needs both certificate and key file' : undefined;
}
