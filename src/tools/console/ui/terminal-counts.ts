/** Codes that repeat a step as often as their number says: scrolling, inserting, deleting, erasing, repeating, tabs. */
const counted = ['S', 'T', 'L', 'M', '@', 'P', 'X', 'b', 'I', 'Z'] as const;
/** No screen has more lines or columns to repeat a step for. */
const mostTimes = 1000;

type Params = readonly (number | readonly number[])[];

/** The part of a terminal's parser by which codes are taken from it. */
interface CodeParser {
  registerCsiHandler(code: { readonly final: string }, handler: (params: Params) => boolean): unknown;
}

/** Ignores codes that would repeat a step millions of times, which would hold up the page for minutes. */
export function ignoreHugeCounts(parser: CodeParser): void {
  for (const final of counted) {
    parser.registerCsiHandler({ final }, (params) => params.flat().some((count) => count > mostTimes));
  }
}
