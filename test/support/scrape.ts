/** One line of a scrape. */
export interface ScrapedSeries {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const line = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const label = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** Reads the text format of metrics; throws for a line that is none. */
export function readScrape(text: string): ScrapedSeries[] {
  return text
    .split('\n')
    .filter((each) => each !== '' && !each.startsWith('#'))
    .map((each) => {
      const [, name, labels = '', value] = line.exec(each) ?? [];
      if (name === undefined) throw new Error(`not a line of a scrape: ${each}`);
      const pairs = [...labels.matchAll(label)].map(([, key, text]) => [key, text] as const);
      return { name, labels: Object.fromEntries(pairs), value: Number(value === '+Inf' ? Infinity : value) };
    });
}

/** A selector as in PromQL: values are equal, or match a whole regular expression. An absent label is empty. */
export type Selector = Readonly<Record<string, string | RegExp>>;

/** The series of this name that a selector finds. */
export function select(series: readonly ScrapedSeries[], name: string, selector: Selector = {}): ScrapedSeries[] {
  const fits = (labels: ScrapedSeries['labels']) =>
    Object.entries(selector).every(([key, wanted]) => {
      const value = labels[key] ?? '';
      return typeof wanted === 'string' ? value === wanted : new RegExp(`^(?:${wanted.source})$`).test(value);
    });
  return series.filter((one) => one.name === name && fits(one.labels));
}

/** The sum of those. */
export function sumOf(series: readonly ScrapedSeries[], name: string, selector: Selector = {}): number {
  return select(series, name, selector).reduce((sum, { value }) => sum + value, 0);
}
