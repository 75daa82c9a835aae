import { RE2JS } from 're2js';
import type { Budget } from '../budget.js';
import { CelError } from '../cel-error.js';
import type { Evaluation } from '../evaluation.js';
import type { LibraryBuilder, Overload, OverloadCode } from '../function-table.js';
import { listOf, types } from '../values/cel-type.js';
import { ListValue } from '../values/value.js';

const { bool, int, string } = types;

/** Limits of a pattern: the cost of compiling grows with them. */
const maxPatternLength = 1000;
const maxProgramSize = 5000;
/** Units per character of text, per character and instruction of the pattern, and per compiled character. */
const costPerCharacter = 6;
const costPerStep = 0.1;
const compileCostPerCharacter = 20;
/** The cost of compiling a literal pattern in addition to its instructions, in parts of an expression. */
const patternWork = 30;

/**
 * A compiled pattern, matched in time linear in the text whatever the pattern: backtracking, as RegExp does it, would
 * let a short pattern hold the process for hours.
 */
class Pattern {
  private readonly expression: RE2JS;
  readonly size: number;

  /** Throws a CelError for an invalid pattern. */
  constructor(pattern: string) {
    if (pattern.length > maxPatternLength)
      throw new CelError(`regular expression has more than ${maxPatternLength} characters`);
    try {
      this.expression = RE2JS.compile(pattern);
      this.size = this.expression.programSize();
    } catch (error) {
      throw new CelError(error instanceof Error ? error.message : String(error));
    }
    if (this.size > maxProgramSize) throw new CelError('regular expression is too large');
  }

  private charge(budget: Budget, text: string): void {
    budget.charge(Math.ceil((text.length + 1) * (costPerCharacter + this.size * costPerStep)));
  }

  isIn(budget: Budget, text: string): boolean {
    this.charge(budget, text);
    return this.expression.matcher(text).find();
  }

  first(budget: Budget, text: string): string {
    this.charge(budget, text);
    const matcher = this.expression.matcher(text);
    return matcher.find() ? (matcher.group() ?? '') : '';
  }

  /** The first `limit` matches. Charges for every search, since each may read to the end of the text. */
  all(budget: Budget, text: string, limit: number): string[] {
    const matcher = this.expression.matcher(text);
    const found: string[] = [];
    while (found.length < limit) {
      this.charge(budget, text);
      if (!matcher.find()) break;
      found.push(matcher.group() ?? '');
    }
    return found;
  }
}

/** How the messages about patterns begin that RE2 does not have. */
const syntaxFault = 'error parsing regexp';

/** Recently used patterns that are not literals, newest last. */
const recent = new Map<string, Pattern>();
const maxRecent = 100;

function compiled({ budget }: Evaluation, text: string): Pattern {
  const known = recent.get(text);
  if (known !== undefined) return known;
  budget.charge(text.length * compileCostPerCharacter);
  const pattern = new Pattern(text);
  if (recent.size >= maxRecent) recent.delete(recent.keys().next().value as string);
  recent.set(text, pattern);
  return pattern;
}

/** Compiles a literal pattern with the expression. */
function prepared(
  make: (pattern: (evaluation: Evaluation, text: string) => Pattern) => OverloadCode,
): [OverloadCode, Pick<Overload, 'specialize'>] {
  return [
    make(compiled),
    {
      specialize: (literals, charge) => {
        const text = literals[1];
        if (typeof text !== 'string') return undefined;
        charge(patternWork);
        let pattern: Pattern;
        try {
          pattern = new Pattern(text);
        } catch (error) {
          const reason = error instanceof CelError ? error.message : String(error);
          // Readers see the pattern; a limit of this program is not to be seen there.
          return { error: `invalid matches argument${reason.startsWith(syntaxFault) ? '' : `: ${reason}`}` };
        }
        charge(pattern.size);
        return make(() => pattern);
      },
    },
  ];
}

function limitOf(limit: bigint): number {
  return limit < 0n || limit > BigInt(Number.MAX_SAFE_INTEGER) ? Number.POSITIVE_INFINITY : Number(limit);
}

/** `matches`, `find` and `findAll`, with the syntax of RE2. */
export function regularExpressions(library: LibraryBuilder): void {
  const matches = prepared((pattern) => (e, text: string, p: string) => pattern(e, p).isIn(e.budget, text));
  library
    .method('matches', [string, string], bool, ...matches)
    .fn('matches', [string, string], bool, ...matches)
    .method(
      'find',
      [string, string],
      string,
      ...prepared((pattern) => (e, text: string, p: string) => pattern(e, p).first(e.budget, text)),
    )
    .method(
      'findAll',
      [string, string],
      listOf(string),
      ...prepared(
        (pattern) => (e, text: string, p: string) =>
          new ListValue(pattern(e, p).all(e.budget, text, Number.POSITIVE_INFINITY)),
      ),
    )
    .method(
      'findAll',
      [string, string, int],
      listOf(string),
      ...prepared(
        (pattern) => (e, text: string, p: string, limit: bigint) =>
          new ListValue(pattern(e, p).all(e.budget, text, limitOf(limit))),
      ),
    );
}
