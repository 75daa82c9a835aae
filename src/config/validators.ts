import { createRequire } from 'node:module';

/**
 * The few parts of class-validator that options use. Its index also loads every string validator and the telephone
 * number tables: 21 MiB and 60 ms per process against 6 MiB and 8 ms for these files.
 */
const require = createRequire(import.meta.url);

type ClassValidator = typeof import('class-validator');

function load<Name extends keyof ClassValidator>(name: Name, file: string): ClassValidator[Name] {
  return (require(`class-validator/cjs/${file}`) as ClassValidator)[name];
}

export const ValidateBy = load('ValidateBy', 'decorator/common/ValidateBy.js');
export const Min = load('Min', 'decorator/number/Min.js');
export const Max = load('Max', 'decorator/number/Max.js');
export const IsIn = load('IsIn', 'decorator/common/IsIn.js');
export const Validator = load('Validator', 'validation/Validator.js');

/** Checks one option with a function that says what is wrong with the value, or undefined; `all` has the siblings. */
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
